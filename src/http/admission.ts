import { AppError } from '../errors.ts'
import type { RequestContext } from './request-context.ts'

const requestsMax = 1_000
/** Requests whose body is still arriving: they wait for their client and delay nobody. */
const arrivingMax = 4_000
/** Changing requests from people who are not signed in: in all, and from one network. */
const strangersMax = 400
const strangersOfNetworkMax = 20
/** Smaller bodies are not counted: the limit on requests bounds them. */
const freeBodyBytes = 16_384
/** Largest bodies that may be held at once. */
const largestBodiesMax = 4

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
  readonly #bodyBytesMax: number
  readonly #limits: readonly WorkLimit[]
  /** Bytes held by each request's body, beyond the free ones. */
  readonly #bodies = new Map<Request, number>()
  /** The network of each stranger's request. */
  readonly #strangers = new Map<Request, string>()
  #requests = 0
  #arriving = 0
  #bodyBytes = 0

  /** @param bodyBytesMax the most that one body may have */
  constructor(bodyBytesMax: number, limits: readonly WorkLimit[]) {
    this.#bodyBytesMax = bodyBytesMax * largestBodiesMax
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
    if (!this.#strangers.delete(request)) this.#requests--
    if (this.#bodies.size === 0) return
    this.#bodyBytes -= this.#bodies.get(request) ?? 0
    this.#bodies.delete(request)
  }

  /** @throws unavailable when too many requests are being answered */
  check(): void {
    if (this.#requests > requestsMax) throw tooMuch('Too many requests are being answered.')
  }

  /**
   * Counts a request until its answer among those of people who are not signed in, so that these cannot affect others.
   * @param network see `networkOf`
   * @throws unavailable
   */
  enterAsStranger(request: Request, network: string): void {
    const ofNetwork = [...this.#strangers.values()].filter((other) => other === network)
    if (this.#strangers.size >= strangersMax || ofNetwork.length >= strangersOfNetworkMax)
      throw tooMuch('Too many people are signing in.')
    this.#strangers.set(request, network)
    this.#requests--
  }

  isStranger(request: Request): boolean {
    return this.#strangers.has(request)
  }

  /** Frees the request's slot while its body arrives. @throws unavailable */
  async whileArriving<Value>(request: Request, receive: () => Promise<Value>): Promise<Value> {
    if (this.isStranger(request)) return await receive()
    if (this.#arriving >= arrivingMax) throw tooMuch('Too many request bodies are arriving.')
    this.#arriving++
    this.#requests--
    try {
      return await receive()
    } finally {
      this.#arriving--
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
    const heldBytes = this.#bodies.get(request) ?? 0
    const moreBytes = Math.max(0, bytes - freeBodyBytes) - heldBytes
    if (moreBytes === 0) return
    if (moreBytes > 0 && this.#bodyBytes + moreBytes > this.#bodyBytesMax)
      throw tooMuch('Too many large request bodies are being read.')
    this.#bodyBytes += moreBytes
    this.#bodies.set(request, heldBytes + moreBytes)
  }
}

function tooMuch(detail: string): AppError {
  return new AppError('unavailable', 'Service unavailable', { detail, retryAfterSeconds: 1 })
}
