import type { RequestContext, RequestContexts } from './request-context.ts'

// Pages of other origins in a browser: https://fetch.spec.whatwg.org/#http-cors-protocol

const secondsPerDay = 86_400

/**
 * The answer to a browser's question whether a page may send a request; null for any other request. The question comes
 * without the key, so it is answered for any page. Whether the page may read what the request itself is answered, the
 * key then says.
 */
export function preflightAnswer(request: Request, contexts: RequestContexts): Response | null {
  const { method, headers } = request
  const wanted = headers.get('access-control-request-method')
  if (method !== 'OPTIONS' || wanted === null || !headers.has('origin')) return null
  if (!contexts.surfaceOf(wanted, contexts.of(request).path).isForPages) return null
  return new Response(null, {
    status: 204,
    headers: {
      'Access-Control-Allow-Origin': '*',
      'Access-Control-Allow-Methods': wanted,
      // The asterisk does not cover Authorization.
      'Access-Control-Allow-Headers': 'Authorization, *',
      'Access-Control-Max-Age': String(secondsPerDay),
    },
  })
}

/** Lets a page read the answer, where the key allows its origin. */
export function allowPage(
  request: Request,
  context: RequestContext,
  allowedOrigins: readonly string[],
): void {
  if (!context.surface.isForPages || allowedOrigins.length === 0) return
  const origin = request.headers.get('origin')
  const isAllowed = origin !== null && allowedOrigins.includes(origin)
  context.headers = {
    ...context.headers,
    Vary: 'Origin',
    ...(isAllowed && { 'Access-Control-Allow-Origin': origin, 'Access-Control-Expose-Headers': '*' }),
  }
}
