import { AppError } from '../errors.ts'
import type { RequestFacts } from './facts.ts'

const requestsMax = 1_000
/** Requests of which the body is on its way: they wait for their client and keep nobody else waiting. */
const arrivingMax = 4_000
/** Requests of people who are not signed in and send something: of all of them, and from one network. */
const strangersMax = 400
const strangersOfNetworkMax = 20
/** Bodies as large as this cost nothing: many small ones are bounded by the number of requests. */
const freeBodyBytes = 16_384
/** Largest bodies that may be held at once. */
const largestBodiesMax = 4

/** A path whose work has a limit of its own: beyond it a request is refused before anything is done for it. */
export interface Door {
  method: string
  path: string
  /** @param bodyBytes how long the body is said to be; 0 when that is not said */
  isFull(bodyBytes: number): boolean
  refusal: AppError
}

/**
 * How much is taken on at once. What is beyond is refused at once, so that neither memory nor the time that the
 * others wait grows with what is offered. Bytes count when they have arrived: who sends slowly holds nothing.
 */
export class Admission {
  readonly #bodyBytesMax: number
  readonly #doors: readonly Door[]
  readonly #bodies = new WeakMap<Request, number>()
  /** The network that each stranger's request came from. */
  readonly #strangers = new Map<Request, string>()
  #requests = 0
  #arriving = 0
  #bodyBytes = 0

  /** @param bodyBytesMax the most that one body may have */
  constructor(bodyBytesMax: number, doors: readonly Door[]) {
    this.#bodyBytesMax = bodyBytesMax * largestBodiesMax
    this.#doors = doors
  }

  /** Why the request is refused where it stands; null when it is let in. */
  refusalAt({ method, headers }: Request, { path }: RequestFacts): AppError | null {
    const door = this.#doors.find((one) => one.path === path && one.method === method)
    return door?.isFull(Number(headers.get('content-length') ?? 0)) ? door.refusal : null
  }

  enter(): void {
    this.#requests++
  }

  leave(request: Request): void {
    if (!this.#strangers.delete(request)) this.#requests--
    this.#bodyBytes -= this.#bodies.get(request) ?? 0
    this.#bodies.delete(request)
  }

  /** @throws unavailable when there are too many requests already */
  check(): void {
    if (this.#requests > requestsMax) throw tooMuch('Too many requests are being answered.')
  }

  /**
   * Moves the request to the few places for people who are not signed in, until it is answered: what they send,
   * and how slowly, is nothing to those who are. @param network see `networkOf` @throws unavailable
   */
  enterAsStranger(request: Request, network: string): void {
    const ofNetwork = [...this.#strangers.values()].filter((other) => other === network)
    if (this.#strangers.size >= strangersMax || ofNetwork.length >= strangersOfNetworkMax)
      throw tooMuch('Too many people are about to sign in.')
    this.#strangers.set(request, network)
    this.#requests--
  }

  isStranger(request: Request): boolean {
    return this.#strangers.has(request)
  }

  /** Lets somebody else have the request's place until its body is there. @throws unavailable */
  async whileArriving<Value>(request: Request, receive: () => Promise<Value>): Promise<Value> {
    if (this.isStranger(request)) return await receive()
    if (this.#arriving >= arrivingMax) throw tooMuch('Too many bodies are on their way.')
    this.#arriving++
    this.#requests--
    try {
      return await receive()
    } finally {
      this.#arriving--
      this.#requests++
    }
  }

  /** Counts what has arrived of the request's body so far. @throws unavailable when bodies take up too much already */
  hold(request: Request, arrivedBytes: number): void {
    const bytes = Math.max(0, arrivedBytes - freeBodyBytes)
    const more = bytes - (this.#bodies.get(request) ?? 0)
    if (more > 0 && this.#bodyBytes + more > this.#bodyBytesMax)
      throw tooMuch('Too many large bodies are being read.')
    this.#bodyBytes += more
    this.#bodies.set(request, bytes)
  }
}

function tooMuch(detail: string): AppError {
  return new AppError('unavailable', 'Service unavailable', { detail, retryAfterSeconds: 1 })
}
