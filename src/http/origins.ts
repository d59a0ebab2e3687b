import { isLoopbackHost } from './host.ts'

/**
 * Whether a page of this origin may speak to us; what is not a browser sends none. The service's own origin and
 * this machine's pass. That `Origin` and `Host` agree proves nothing: a name that was rebound to our address is in
 * both (https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#security-warning).
 * @param ownOrigin such as `https://callbook.example`; null when none is configured
 */
export function isTrustedOrigin(origin: string | null, ownOrigin: string | null): boolean {
  if (origin === null || origin === ownOrigin) return true
  const [, host = ''] = /^https?:\/\/(.*)$/.exec(origin) ?? []
  return isLoopbackHost(host)
}
