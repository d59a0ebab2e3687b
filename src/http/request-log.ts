import { randomUUID } from 'node:crypto'
import type { Elysia } from 'elysia'
import { type AppError, invalidRequest } from '../errors.ts'
import type { RequestRecord } from '../observability/log.ts'
import type { Admission } from './admission.ts'
import type { FactsByRequest, RequestFacts } from './facts.ts'
import { isHost } from './host.ts'
import { completeHeaders } from './json-headers.ts'
import { toAnswer } from './problems.ts'
import { type RouteTable, withAbsoluteUrl } from './route-table.ts'

interface RequestLogOptions {
  admission: Admission
  facts: FactsByRequest
  routes: () => RouteTable
  record: (record: RequestRecord) => void
  /** Whether people reach the service by https, which browsers are then told to keep to. */
  isSecure: boolean
  /** Milliseconds of a monotonic clock. */
  now: () => number
}

type Handle = (request: Request) => Response | Promise<Response>

/** For a year, and for this name alone (RFC 6797): names below it need not be ours. */
const strictTransport = 'max-age=31536000'
const ownRequestId = /^[A-Za-z0-9._-]{1,128}$/

/**
 * Around every request: its id, the headers of every answer, one record when the answer is ready. In `.wrap`,
 * since Elysia's `onAfterResponse` misses what `onRequest` answers.
 */
export function requestLog({ admission, facts, routes, record, isSecure, now }: RequestLogOptions) {
  const counted = async (request: Request, handle: Handle) => {
    admission.enter()
    try {
      return await handle(request)
    } finally {
      admission.leave(request)
    }
  }
  const around =
    (handle: Handle): Handle =>
    async (received) => {
      const startedAt = now()
      const request = withAbsoluteUrl(received)
      const known = facts.open(request, requestIdOf(request), received)
      const refusal = badHost(request) ?? admission.refusalAt(request, known)
      const response = refusal ? toAnswer(refusal, known.requestId) : await counted(request, handle)
      finish(response.headers, known)
      if (isSecure) response.headers.set('Strict-Transport-Security', strictTransport)
      record({
        requestId: known.requestId,
        method: request.method,
        route: routes().patternOf(known.path) ?? 'none',
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

/** Refused first of all: such a `Host` makes a URL of the request that nobody can read. */
function badHost({ headers }: Request): AppError | null {
  const host = headers.get('host')
  if (host === null || isHost(host)) return null
  return invalidRequest([{ field: 'Host', message: 'must be a host name or an address' }])
}

function requestIdOf(request: Request): string {
  const own = request.headers.get('x-request-id')
  return own && ownRequestId.test(own) ? own : randomUUID()
}

function finish(headers: Headers, known: RequestFacts): void {
  completeHeaders(headers)
  headers.set('X-Request-Id', known.requestId)
  for (const name in known.headers) headers.set(name, known.headers[name] ?? '')
}
