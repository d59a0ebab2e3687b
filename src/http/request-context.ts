import { pathOf } from './route-table.ts'

/** What is found out about a request on its way, for its log line, its metrics and its answer's headers. */
export interface RequestFacts {
  readonly requestId: string
  /** The path of the request's URL. */
  readonly path: string
  /** The request as the runtime handed it over, which knows the socket of no other. */
  readonly received: Request
  keyId?: string
  /** Headers that an answer bears whatever it says, such as those of the rate limit. */
  headers?: Record<string, string>
}

/**
 * Facts by request. A WeakMap, not Elysia's `store`: that is shared, and concurrent requests would read each
 * other's key there.
 */
export class FactsByRequest {
  readonly #facts = new WeakMap<Request, RequestFacts>()

  open(request: Request, requestId: string, received = request): RequestFacts {
    const facts: RequestFacts = { requestId, path: pathOf(request.url), received }
    this.#facts.set(request, facts)
    return facts
  }

  of(request: Request): RequestFacts {
    return this.#facts.get(request) ?? this.open(request, 'unknown')
  }
}
