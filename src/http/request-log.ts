import { randomUUID } from 'node:crypto'
import type { Elysia } from 'elysia'
import type { FactsByRequest, RequestFacts } from './facts.ts'
import { pathOf, type RouteTable, withAbsoluteUrl } from './route-table.ts'

export interface RequestRecord {
  requestId: string
  method: string
  /** The route's pattern, never the path: a path may hold anything a client wrote. */
  route: string
  status: number
  durationMs: number
  keyId: string | undefined
}

interface RequestLogOptions {
  facts: FactsByRequest
  routes: () => RouteTable
  record: (record: RequestRecord) => void
  /** Milliseconds of a monotonic clock. */
  now: () => number
}

type Handle = (request: Request) => Response | Promise<Response>

const ownRequestId = /^[A-Za-z0-9._-]{1,128}$/

const securityHeaders: [name: string, value: string][] = [
  ['X-Content-Type-Options', 'nosniff'],
  ['Referrer-Policy', 'no-referrer'],
  ['Cross-Origin-Resource-Policy', 'same-origin'],
  ['X-Frame-Options', 'DENY'],
]

/**
 * Around every request: its id, the headers of every answer, one record when the answer is ready. In `.wrap`,
 * since Elysia's `onAfterResponse` misses what `onRequest` answers.
 */
export function requestLog({ facts, routes, record, now }: RequestLogOptions) {
  const around =
    (handle: Handle): Handle =>
    async (received) => {
      const startedAt = now()
      const request = withAbsoluteUrl(received)
      const known = facts.open(request, requestIdOf(request))
      const response = await handle(request)
      finish(response.headers, known)
      record({
        requestId: known.requestId,
        method: request.method,
        route: routes().patternOf(pathOf(request.url)) ?? 'none',
        status: response.status,
        durationMs: now() - startedAt,
        keyId: known.keyId,
      })
      return response
    }
  return asWrap(around)
}

type Wrap = Parameters<Elysia['wrap']>[0]

/** Elysia hands `.wrap` its own fetch function, which its types describe as a function of unknowns. */
function asWrap(around: (handle: Handle) => Handle): Wrap {
  return around as unknown as Wrap
}

function requestIdOf(request: Request): string {
  const own = request.headers.get('x-request-id')
  return own && ownRequestId.test(own) ? own : randomUUID()
}

/** Routes that serve pages set their own policies; what they set stays. */
function finish(headers: Headers, known: RequestFacts): void {
  headers.set('X-Request-Id', known.requestId)
  for (const [name, value] of securityHeaders) headers.set(name, value)
  if (!headers.has('Content-Security-Policy')) {
    headers.set('Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'")
  }
  if (!headers.has('Cache-Control')) headers.set('Cache-Control', 'no-store')
  for (const [name, value] of Object.entries(known.headers ?? {})) headers.set(name, value)
}
