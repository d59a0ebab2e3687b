import { randomUUID } from 'node:crypto'
import type { Elysia } from 'elysia'
import { type AppError, invalidRequest } from '../errors.ts'
import type { RequestRecord } from '../observability/log.ts'
import type { Admission } from './admission.ts'
import { compressed } from './compression.ts'
import { isHost } from './host.ts'
import { completeHeaders } from './json-headers.ts'
import { toAnswer } from './problems.ts'
import type { RequestContext, RequestContexts } from './request-context.ts'
import { type RouteTable, withAbsoluteUrl } from './route-table.ts'

interface RequestLogOptions {
  admission: Admission
  contexts: RequestContexts
  routes: () => RouteTable
  /** Answers plain requests without Elysia: see direct-read.ts. */
  answerDirectly: (request: Request, context: RequestContext) => Promise<Response> | null
  /** Called when a request arrives. */
  begin: () => void
  record: (record: RequestRecord) => void
  /** Slower requests are logged as slow; 0 logs none. */
  slowMs: number
  /** Whether the service is reached over https, which browsers are then told to require. */
  isSecure: boolean
  now: () => number
}

type Handle = (request: Request) => Response | Promise<Response>

/** Holds for a year, without subdomains (RFC 6797), which may belong to others. */
const strictTransport = 'max-age=31536000'
const traceparentPattern = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/
const ownRequestId = /^[A-Za-z0-9._-]{1,128}$/

/**
 * Wraps every request: sets its id and the headers of every answer, and logs it when the answer is ready. In `.wrap`,
 * because Elysia's `onAfterResponse` misses answers from `onRequest`.
 */
export function requestLog({
  admission,
  contexts,
  routes,
  answerDirectly,
  begin,
  record,
  slowMs,
  isSecure,
  now,
}: RequestLogOptions) {
  const isGoodHost = hostCheck()
  const respond = async (handle: Handle, received: Request): Promise<Response> => {
    const startedAt = now()
    begin()
    const request = withAbsoluteUrl(received)
    const context = contexts.open(request, requestIdOf(request), received)
    let response: Response
    const refusal = isGoodHost(request) ? admission.refusalAt(request, context) : badHost()
    if (refusal) {
      response = toAnswer(refusal, context.requestId)
    } else {
      admission.enter()
      try {
        response = await (answerDirectly(request, context) ?? handle(request))
        if (request.headers.has('accept-encoding')) response = await compressed(request, response)
      } finally {
        admission.leave(request)
      }
    }
    finish(response.headers, context)
    if (isSecure) response.headers.set('Strict-Transport-Security', strictTransport)
    const durationMs = now() - startedAt
    record({
      requestId: context.requestId,
      method: request.method,
      route: routes().patternOf(context.path) ?? 'none',
      status: response.status,
      durationMs,
      isSlow: slowMs > 0 && durationMs >= slowMs && !context.isWaiting,
      bytes: Number(request.headers.get('content-length') ?? 0) || 0,
      keyId: context.keyId,
      project: context.project,
      traceparent: traceparentOf(request),
    })
    return response
  }
  return asWrap((handle) => (received) => respond(handle, received))
}

type Wrap = Parameters<Elysia['wrap']>[0]

/** Elysia passes `.wrap` its fetch function, typed as a function of unknowns. */
function asWrap(around: (handle: Handle) => Handle): Wrap {
  return around as unknown as Wrap
}

/** Caches the last valid `Host`, since clients repeat it. */
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

/** Refused first, because such a `Host` makes an unreadable URL. */
function badHost(): AppError {
  return invalidRequest([{ field: 'Host', message: 'must be one host name or address' }])
}

function requestIdOf({ headers }: Request): string {
  const own = headers.get('x-request-id')
  return own && ownRequestId.test(own) ? own : randomUUID()
}

/** Where the request belongs in its sender's trace: https://www.w3.org/TR/trace-context/#traceparent-header */
function traceparentOf({ headers }: Request): string | undefined {
  const traceparent = headers.get('traceparent')
  return traceparent !== null && traceparentPattern.test(traceparent) ? traceparent : undefined
}

function finish(headers: Headers, { requestId, headers: more }: RequestContext): void {
  completeHeaders(headers)
  headers.set('X-Request-Id', requestId)
  for (const name in more) {
    // Appended, since an answer may vary by other headers, too.
    if (name === 'Vary') headers.append(name, more[name] ?? '')
    else headers.set(name, more[name] ?? '')
  }
}
