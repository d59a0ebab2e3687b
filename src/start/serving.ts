import type { Services } from '../services/services.ts'

/** The services, and what answers requests with them. */
interface Opened {
  services: Services
  /** Settles when they have started. */
  started: Promise<void>
  fetch: (request: Request) => Response | Promise<Response>
}

/** Answers requests with services that are closed and opened again once the data is back at its path. */
export class Serving {
  opened: Promise<Opened>
  /** Null while the services are opened: requests wait. */
  #current: Opened | null = null
  /** Where people reach the service, once it listens. */
  address = ''
  isEnding = false

  constructor(open: (onBack: () => void) => Promise<Opened>, onFailure: (error: unknown) => void) {
    const openCurrent = async () => {
      this.#current = await open(onBack)
      return this.#current
    }
    const onBack = () => {
      if (this.isEnding) return
      this.#current = null
      this.opened = this.opened.then(({ services }) => services.close()).then(openCurrent)
      const again = this.opened.then(({ services, started }) => {
        services.listensAt(this.address)
        return started
      })
      again.catch(onFailure)
    }
    this.opened = openCurrent()
  }

  fetch(request: Request): Response | Promise<Response> {
    return this.#current?.fetch(request) ?? this.opened.then(({ fetch }) => fetch(request))
  }
}
