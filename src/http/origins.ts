import { isLoopbackHost } from './host.ts'

/**
 * Whether a page of this origin may call us. Clients that are not browsers send no origin. The service's own origin
 * and this machine's pass. That `Origin` and `Host` agree proves nothing: a name rebound to our address is in
 * both (https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#security-warning).
 * @param ownOrigin such as `https://callbook.example`; null when none is configured
 */
export function isTrustedOrigin(origin: string | null, ownOrigin: string | null): boolean {
  if (origin === null || origin === ownOrigin) return true
  const [, host = ''] = /^https?:\/\/(.*)$/.exec(origin) ?? []
  return isLoopbackHost(host)
}

/**
 * Whether one of our own pages sent the request. Browsers say so with every request that changes something. A name
 * rebound to our address is in both `Origin` and `Host`, but then the cookies of our own name are not sent.
 * Where people use https, a page loaded over http is not ours: anybody on the network may have written it.
 * https://cheatsheetseries.owasp.org/cheatsheets/Cross-Site_Request_Forgery_Prevention_Cheat_Sheet.html
 */
export function isOwnPage(headers: Headers, ownOrigin: string | null): boolean {
  if (headers.get('sec-fetch-site') === 'same-origin') return true
  const origin = headers.get('origin')
  if (origin === null) return false
  if (origin === ownOrigin) return true
  const schemes = ownOrigin?.startsWith('https:') ? /^https:\/\// : /^https?:\/\//
  return schemes.test(origin) && hostOf(origin) === headers.get('host')?.toLowerCase()
}

function hostOf(origin: string): string | null {
  return URL.canParse(origin) ? new URL(origin).host : null
}
