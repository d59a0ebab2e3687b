import { randomUUID } from 'node:crypto'
import type { Elysia } from 'elysia'
import { type AppError, invalidRequest } from '../errors.ts'
import type { RequestRecord } from '../observability/log.ts'
import type { Admission } from './admission.ts'
import { isHost } from './host.ts'
import { completeHeaders } from './json-headers.ts'
import { toAnswer } from './problems.ts'
import type { RequestContext, RequestContexts } from './request-context.ts'
import { type RouteTable, withAbsoluteUrl } from './route-table.ts'

interface RequestLogOptions {
  admission: Admission
  contexts: RequestContexts
  routes: () => RouteTable
  record: (record: RequestRecord) => void
  /** Whether people reach the service over https, which browsers are then told to insist on. */
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
export function requestLog({ admission, contexts, routes, record, isSecure, now }: RequestLogOptions) {
  const isGoodHost = hostCheck()
  const respond = async (handle: Handle, received: Request): Promise<Response> => {
    const startedAt = now()
    const request = withAbsoluteUrl(received)
    const context = contexts.open(request, requestIdOf(request), received)
    let response: Response
    const refusal = isGoodHost(request) ? admission.refusalAt(request, context) : badHost()
    if (refusal) {
      response = toAnswer(refusal, context.requestId)
    } else {
      admission.enter()
      try {
        response = await handle(request)
      } finally {
        admission.leave(request)
      }
    }
    finish(response.headers, context)
    if (isSecure) response.headers.set('Strict-Transport-Security', strictTransport)
    record({
      requestId: context.requestId,
      method: request.method,
      route: routes().patternOf(context.path) ?? 'none',
      status: response.status,
      durationMs: now() - startedAt,
      keyId: context.keyId,
    })
    return response
  }
  return asWrap((handle) => (received) => respond(handle, received))
}

type Wrap = Parameters<Elysia['wrap']>[0]

/** Elysia hands `.wrap` its own fetch function, which its types describe as a function of unknowns. */
function asWrap(around: (handle: Handle) => Handle): Wrap {
  return around as unknown as Wrap
}

/** Clients send the same `Host` again and again, so the last good one is not parsed anew. */
function hostCheck(): (request: Request) => boolean {
  let lastGood: string | null = null
  return ({ headers }) => {
    const host = headers.get('host')
    if (host === null || host === lastGood) return true
    if (!isHost(host)) return false
    lastGood = host
    return true
  }
}

/** Refused before anything else: such a `Host` makes a URL that nobody can read. */
function badHost(): AppError {
  return invalidRequest([{ field: 'Host', message: 'must be one host name or address' }])
}

function requestIdOf({ headers }: Request): string {
  const own = headers.get('x-request-id')
  return own && ownRequestId.test(own) ? own : randomUUID()
}

function finish(headers: Headers, { requestId, headers: more }: RequestContext): void {
  completeHeaders(headers)
  headers.set('X-Request-Id', requestId)
  for (const name in more) {
    // An answer may vary by other headers, too.
    if (name === 'Vary') headers.append(name, more[name] ?? '')
    else headers.set(name, more[name] ?? '')
  }
}
