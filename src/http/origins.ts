import { isLoopbackHost } from './host.ts'

/**
 * Whether a page of this origin may send requests. Clients other than browsers send no origin. The service's own origin
 * and this machine pass. Equal `Origin` and `Host` prove nothing, since DNS rebinding puts a foreign name into both
 * (https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#security-warning).
 * @param ownOrigin such as `https://callbook.example`; null if none is configured
 */
export function isTrustedOrigin(origin: string | null, ownOrigin: string | null): boolean {
  if (origin === null || origin === ownOrigin) return true
  const [, host = ''] = /^https?:\/\/(.*)$/.exec(origin) ?? []
  return isLoopbackHost(host)
}

/**
 * Whether one of the console's pages sent the request. Browsers tell the origin of every changing request. DNS
 * rebinding puts a foreign name into both `Origin` and `Host`, but then our cookies are not sent. With https, a page
 * loaded over http does not count: anybody on the network may have written it.
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
