import type { Party } from '../shared-limit.ts'
import { pathOf } from './route-table.ts'
import type { BodyLimit, Surface, SurfaceOf } from './surface.ts'

/** What is known about a request, for its checks, its log line, its metrics and its answer's headers. */
export interface RequestContext {
  readonly requestId: string
  /** The path of the request's URL. */
  readonly path: string
  readonly surface: Surface
  /** The runtime's own request object, the only one whose socket it can find. */
  readonly received: Request
  /** Who takes part of the limits that all share, once the sender is known. */
  party: Party
  keyId?: string
  /** The public id of the project, once it is known. */
  project?: string
  /** Whether the request waits for changes, as it was asked to. */
  isWaiting?: boolean
  /** The request's JSON body, once it is read. */
  body?: unknown
  /** Headers of every answer to the request, such as those of the rate limit. */
  headers: Record<string, string> | undefined
}

/**
 * Contexts by request. Not in Elysia's `store`, which concurrent requests share, so that they would read each other's
 * keys.
 */
export class RequestContexts {
  readonly #contexts = new WeakMap<Request, RequestContext>()
  readonly surfaceOf: SurfaceOf
  readonly bodyLimit: BodyLimit

  constructor(surfaceOf: SurfaceOf, bodyLimit: BodyLimit) {
    this.surfaceOf = surfaceOf
    this.bodyLimit = bodyLimit
  }

  open(request: Request, requestId: string, received = request): RequestContext {
    const path = pathOf(request.url)
    const surface = this.surfaceOf(request.method, path)
    const { headers } = surface
    const context: RequestContext = { requestId, path, surface, received, party: 'unknown', headers }
    this.#contexts.set(request, context)
    return context
  }

  of(request: Request): RequestContext {
    return this.#contexts.get(request) ?? this.open(request, 'unknown')
  }

  /** The most bytes that the request's body may have. */
  bodyBytesMaxOf(request: Request): number {
    return this.bodyLimit(this.of(request).path)
  }
}
