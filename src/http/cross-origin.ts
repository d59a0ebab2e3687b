import type { RequestContext, RequestContexts } from './request-context.ts'

// CORS, for pages of other origins in a browser: https://fetch.spec.whatwg.org/#http-cors-protocol

const secondsPerDay = 86_400

/**
 * The answer to a preflight request; null for any other request. A preflight comes without the key, so any page gets
 * it. Whether the page may read the answer to the request itself depends on the key.
 */
export function preflightAnswer(request: Request, contexts: RequestContexts): Response | null {
  const { method, headers } = request
  const requestMethod = headers.get('access-control-request-method')
  if (method !== 'OPTIONS' || requestMethod === null || !headers.has('origin')) return null
  if (!contexts.surfaceOf(requestMethod, contexts.of(request).path).isForPages) return null
  return new Response(null, {
    status: 204,
    headers: {
      'Access-Control-Allow-Origin': '*',
      'Access-Control-Allow-Methods': requestMethod,
      // The asterisk does not cover Authorization.
      'Access-Control-Allow-Headers': 'Authorization, *',
      'Access-Control-Max-Age': String(secondsPerDay),
    },
  })
}

/** Lets a page read the answer, if the key allows its origin. */
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
    // A cached answer could be read with a key that does not allow the page's origin.
    'Cache-Control': 'no-store',
    ...(isAllowed && { 'Access-Control-Allow-Origin': origin, 'Access-Control-Expose-Headers': '*' }),
  }
}
