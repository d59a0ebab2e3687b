import { setTimeout as sleep } from 'node:timers/promises'
import { type AppError, unavailable } from '../errors.ts'
import { type Party, SharedLimit } from '../shared-limit.ts'
import type { RequestContext, RequestContexts } from './request-context.ts'

const requestsMax = 1_000
/** Requests whose body is still arriving: they wait for their client and delay nobody. */
const arriving = { max: 4_000, ofUnverified: 200 }
/** Changing requests from people who are not signed in, by network. */
const people = { max: 400, ofUnverified: 20 }
/** Requests to sources that are not verified yet, by source: a platform sends all of them from few networks. */
const sources = { max: 2_000, ofUnverified: 200 }
/** Smaller bodies are not counted: the limit on requests bounds them. */
export const freeBodyBytes = 16_384
/** Largest bodies that may be held at once. */
const largestBodiesMax = 4
const roomEveryMs = 20

/** A POST whose work has a limit of its own: beyond it, requests are refused before any work is done for them. */
export interface WorkLimit {
  path: string
  /** @param bodyBytes the body's declared length; 0 when none is declared */
  isFull(bodyBytes: number): boolean
  refusal: AppError
}

/**
 * Limits concurrent work. Requests beyond a limit are refused at once, so that neither memory nor latency grows with
 * the load. Bytes count once they have arrived, so a slow sender holds nothing.
 */
export class Admission {
  readonly #contexts: RequestContexts
  readonly #limits: readonly WorkLimit[]
  readonly #bodyBytes: SharedLimit
  /** Bytes held by each request's body, beyond the free ones, and for whom. */
  readonly #bodies = new Map<Request, { party: Party; bytes: number }>()
  /** The limit that each unverified request counts against, and for whom. */
  readonly #unverified = new Map<Request, { limit: SharedLimit; party: Party }>()
  readonly #unverifiedLimits = { people: new SharedLimit(people), sources: new SharedLimit(sources) }
  readonly #arriving = new SharedLimit(arriving)
  #requests = 0

  /** @param bodyBytesMax the most that one body may have */
  constructor(contexts: RequestContexts, bodyBytesMax: number, limits: readonly WorkLimit[]) {
    this.#contexts = contexts
    this.#bodyBytes = new SharedLimit({ max: bodyBytesMax * largestBodiesMax, ofUnverified: bodyBytesMax })
    this.#limits = limits
  }

  /** Why a request is refused on arrival; null if it is admitted. */
  refusalAt({ method, headers }: Request, { path }: RequestContext): AppError | null {
    for (const limit of this.#limits) {
      if (limit.path !== path || method !== 'POST') continue
      return limit.isFull(Number(headers.get('content-length') ?? 0)) ? limit.refusal : null
    }
    return null
  }

  enter(): void {
    this.#requests++
  }

  leave(request: Request): void {
    this.recognize(request)
    this.#requests--
    const body = this.#bodies.get(request)
    if (!body) return
    this.#bodyBytes.add(body.party, -body.bytes)
    this.#bodies.delete(request)
  }

  /** @throws unavailable when too many requests are being answered */
  check(): void {
    if (this.#requests > requestsMax) throw unavailable('Too many requests are being answered.')
  }

  /**
   * Counts a request among those of unknown senders, so that these cannot affect others, until its answer or until its
   * sender is recognized.
   * @param party the network of a person (see `networkOf`), or the id of a source
   * @throws unavailable
   */
  enterUnverified(request: Request, kind: 'people' | 'sources', party: string): void {
    const limit = this.#unverifiedLimits[kind]
    if (!limit.hasRoom(party)) throw unavailable('Too many requests of unknown senders are being checked.')
    limit.add(party)
    this.#unverified.set(request, { limit, party })
    this.#contexts.of(request).party = party
    this.#requests--
  }

  /** The request no longer counts as unverified. */
  recognize(request: Request): void {
    const unverified = this.#unverified.get(request)
    if (!unverified) return
    unverified.limit.add(unverified.party, -1)
    this.#unverified.delete(request)
    this.#requests++
  }

  isUnverified(request: Request): boolean {
    return this.#unverified.has(request)
  }

  /** Frees the request's slot while its body arrives. @throws unavailable */
  async whileArriving<Value>(request: Request, receive: () => Promise<Value>): Promise<Value> {
    if (this.isUnverified(request)) return await receive()
    const { party } = this.#contexts.of(request)
    if (!this.#arriving.hasRoom(party)) throw unavailable('Too many request bodies are arriving.')
    this.#arriving.add(party)
    this.#requests--
    try {
      return await receive()
    } finally {
      this.#arriving.add(party, -1)
      this.#requests++
    }
  }

  /** Frees the request's slot while it waits for an event, which is no load. */
  async whileWaiting<Value>(wait: () => Promise<Value>): Promise<Value> {
    this.#requests--
    try {
      return await wait()
    } finally {
      this.#requests++
    }
  }

  /** Counts the bytes held of a request's body. @throws unavailable if bodies take up too much already */
  hold(request: Request, bytes: number): void {
    const { party, heldBytes, moreBytes } = this.#moreBytes(request, bytes)
    if (moreBytes === 0) return
    if (moreBytes > 0 && !this.#bodyBytes.hasRoom(party, moreBytes))
      throw unavailable('Too many large request bodies are being read.')
    this.#bodyBytes.add(party, moreBytes)
    this.#bodies.set(request, { party, bytes: heldBytes + moreBytes })
  }

  /** The same, after a wait for room. The request frees its slot meanwhile. @throws unavailable */
  async holdWithin(waitMs: number, request: Request, bytes: number): Promise<void> {
    const lastAt = performance.now() + waitMs
    const hasRoom = () => {
      const { party, moreBytes } = this.#moreBytes(request, bytes)
      return this.#bodyBytes.hasRoom(party, moreBytes)
    }
    while (!hasRoom() && performance.now() < lastAt)
      await this.whileArriving(request, () => sleep(roomEveryMs))
    this.hold(request, bytes)
  }

  #moreBytes(request: Request, bytes: number) {
    const body = this.#bodies.get(request)
    const { party, bytes: heldBytes } = body ?? { party: this.#contexts.of(request).party, bytes: 0 }
    return { party, heldBytes, moreBytes: Math.max(0, bytes - freeBodyBytes) - heldBytes }
  }
}
