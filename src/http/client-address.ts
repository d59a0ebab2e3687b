import { type IpRules, parseAddress } from '../access/keys/ip-rules.ts'

/** The address at the other end of the socket, which only the runtime's server knows; null without a socket. */
export type PeerAddress = (request: Request) => string | null

interface ClientAddressSources {
  /** The address at the other end of the socket; null without a socket. */
  peer: string | null
  /** `X-Forwarded-For`, several header lines joined by commas. */
  forwardedFor: string | null
  /** Null when no proxy is trusted: rules compiled from an empty list would trust everyone. */
  trustedProxies: IpRules | null
}

/**
 * The client's address, in canonical form. Each proxy appends the address that it received from, so the header is read
 * from the right while the writer of an entry is trusted; anyone may have written the rest. Null (unknown, passes only
 * `*`) if an entry on the way is empty or not an address.
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
