import { setTimeout } from 'node:timers/promises'
import { unavailable } from '../errors.ts'
import type { Services } from '../services/services.ts'

/** The services, and what answers requests with them. */
interface Opened {
  services: Services
  /** Settles when they have started. */
  started: Promise<void>
  fetch: (request: Request) => Response | Promise<Response>
}

/** How long a request waits while the services are opened again. */
const waitMs = 2_000
/** How often data that left while it was opened again is looked for. */
const lookAgainMs = 1_000

export interface ServingOptions {
  /** Told whether it opens for the first time, when it may make a database. */
  open: (onBack: () => void, isFirst: boolean) => Promise<Opened>
  /** Whether the data is away from its path. */
  isAway: () => boolean
  onFailure: (error: unknown) => void
}

/** Answers requests with services that are closed and opened again once the data is back at its path. */
export class Serving {
  opening: Promise<Opened>
  /** Null while the services are opened: requests wait. */
  #current: Opened | null = null
  /** Where people reach the service, once it listens. */
  address = ''
  isEnding = false

  constructor({ open, isAway, onFailure }: ServingOptions) {
    const openCurrent = async (isFirst: boolean): Promise<Opened> => {
      while (!isFirst && isAway() && !this.isEnding) await setTimeout(lookAgainMs)
      try {
        this.#current = await open(onBack, isFirst)
        return this.#current
      } catch (error) {
        // It may have left while it was opened.
        if (isFirst || this.isEnding || !isAway()) throw error
        return await openCurrent(isFirst)
      }
    }
    const onBack = () => {
      if (this.isEnding) return
      this.#current = null
      this.opening = this.opening.then(({ services }) => services.close()).then(() => openCurrent(false))
      const again = this.opening.then(({ services, started }) => {
        services.listensAt(this.address)
        return started
      })
      again.catch(onFailure)
    }
    this.opening = openCurrent(true)
  }

  fetch(request: Request): Response | Promise<Response> {
    return this.#current?.fetch(request) ?? this.#fetchLater(request)
  }

  async #fetchLater(request: Request): Promise<Response> {
    const current = await Promise.race([this.opening, setTimeout(waitMs, null, { ref: false })])
    if (current) return current.fetch(request)
    const { toAnswer } = await import('../http/problems.ts')
    return toAnswer(unavailable('The data is being opened again. Nothing was written.'), crypto.randomUUID())
  }
}
