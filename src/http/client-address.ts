import { type IpRules, parseAddress } from '../auth/ip-rules.ts'

/** The socket's other end, which only the runtime's server knows; null when there is no socket. */
export type PeerAddress = (request: Request) => string | null

/** The address of each request's client, judged as below. */
export function createClientAddress(
  peerAddress: PeerAddress,
  trustedProxies: IpRules | null,
): (request: Request) => string | null {
  return (request) =>
    clientAddress({
      peer: peerAddress(request),
      forwardedFor: request.headers.get('x-forwarded-for'),
      trustedProxies,
    })
}

export interface ClientAddressSources {
  /** The socket's other end; null where there is no socket. */
  peer: string | null
  /** `X-Forwarded-For`, several header lines joined by commas. */
  forwardedFor: string | null
  /** Null when no proxy is trusted: rules compiled from an empty list would trust everyone. */
  trustedProxies: IpRules | null
}

/**
 * The address a request is judged by, in canonical form. Each proxy appends whom it heard from, so the header is
 * read from the right for as long as the one who wrote an entry is trusted; what stands further left, anyone may
 * have written. Null (unknown, passes only `*`) when an entry on that way is empty or not an address.
 */
export function clientAddress({ peer, forwardedFor, trustedProxies }: ClientAddressSources): string | null {
  let address = peer === null ? null : parseAddress(peer)
  if (trustedProxies === null || forwardedFor === null || forwardedFor.trim() === '') return address

  const hops = forwardedFor.split(',')
  while (address !== null && trustedProxies.allows(address)) {
    const hop = hops.pop()
    if (hop === undefined) return address
    address = parseAddress(hop.trim())
  }
  return address
}
