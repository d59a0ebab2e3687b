import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

/** A compiled allow-list. */
export interface IpRules {
  /** Whether a client at this address may pass; a malformed or unknown (null) one passes only `*`. */
  allows(address: string | null): boolean
}

type IpAddress = ipaddr.IPv4 | ipaddr.IPv6

interface IpRange {
  network: IpAddress
  prefixBits: number
}

const ipv4Bits = 32
const ipv6Bits = 128
const mappedPrefixBits = ipv6Bits - ipv4Bits

/**
 * Compiles addresses, CIDR ranges and `*`. An empty list allows everyone, so do not compile an empty list that grants
 * trust, such as that of proxies. `::/0` is all of IPv6 and no IPv4; `::ffff:10.0.0.0/104` is `10.0.0.0/8`.
 * @throws RangeError naming every bad entry
 */
export function compileIpRules(entries: readonly string[]): IpRules {
  const problems = validateIpEntries(entries)
  if (problems.length > 0) {
    throw new RangeError(
      problems.map(({ entry, message }) => `${JSON.stringify(entry)} ${message}`).join('; '),
    )
  }
  if (entries.length === 0 || entries.some(isWildcard)) return { allows: () => true }

  const ranges = entries.map(parseRange).filter((range) => typeof range !== 'string')
  return {
    allows(text) {
      const address = text === null ? null : parseHost(text)
      return address !== null && ranges.some((range) => contains(range, address))
    },
  }
}

/** Every entry that `compileIpRules` would refuse, in order; `message` is a sentence without its subject. */
export function validateIpEntries(entries: readonly string[]) {
  return entries.flatMap((entry, index) => {
    const range = isWildcard(entry) ? null : parseRange(entry)
    return typeof range === 'string' ? [{ index, entry, message: range }] : []
  })
}

/**
 * The canonical form of a client's address: dotted decimal, also for an IPv4-mapped one, or RFC 5952, without
 * port, brackets and zone (`[::FFFF:10.0.0.1]:443` is `10.0.0.1`). Null when it is not an address.
 */
export function parseAddress(text: string): string | null {
  return parseHost(text)?.toString() ?? null
}

/**
 * What a rate limit counts by: an IPv4 address, or the /64 network of an IPv6 address, since one client may have all
 * of it. @param address as `parseAddress` gives it; all unknown addresses count together
 */
export function networkOf(address: string | null): string {
  if (address === null) return 'unknown'
  if (isIP(address) !== 6) return address
  return ipaddr.IPv6.parse(address).parts.slice(0, 4).join(':')
}

function isWildcard(entry: string): boolean {
  return entry.trim() === '*'
}

/** The range of one entry, or why it is not valid. An address is a range of one. */
function parseRange(entry: string): IpRange | string {
  const [text = '', bits, ...more] = entry.trim().split('/')
  const ip = parseIp(text)
  if (ip === null || more.length > 0) return 'is not an IPv4 or IPv6 address, a CIDR range or *'

  const address = unmapped(ip)
  const writtenBits = ip.kind() === 'ipv4' ? ipv4Bits : ipv6Bits
  // A mapped range counts its prefix in the IPv6 notation: /104 is /8 of IPv4.
  const bitsMin = address.kind() === ip.kind() ? 0 : mappedPrefixBits
  if (bits === undefined) return { network: address, prefixBits: writtenBits - bitsMin }

  // Host bits are ignored: people who copy an interface's address, such as 10.0.0.5/24, mean its network.
  const prefixBits = /^(0|[1-9][0-9]{0,2})$/.test(bits) ? Number(bits) : Number.NaN
  if (prefixBits >= bitsMin && prefixBits <= writtenBits)
    return { network: address, prefixBits: prefixBits - bitsMin }
  return `has a prefix length that is not between ${bitsMin} and ${writtenBits}`
}

function contains(range: IpRange, address: IpAddress): boolean {
  return address.kind() === range.network.kind() && address.match(range.network, range.prefixBits)
}

/** A client's address as sockets and proxies write it, perhaps with a port, brackets or a zone. */
function parseHost(text: string): IpAddress | null {
  const host = /^\[([^[\]]+)\](?::([0-9]{1,5}))?$/.exec(text) ?? /^([0-9.]+):([0-9]{1,5})$/.exec(text)
  if (Number(host?.[2] ?? 0) > 65_535) return null

  const bare = host?.[1] ?? text
  const unzoned = bare.replace(/%[0-9A-Za-z_.:@~-]+$/, '')
  const address = parseIp(unzoned)
  // Only IPv6 is written in brackets or has zones.
  const isIpv6Only = text.startsWith('[') || unzoned !== bare
  if (address === null || (isIpv6Only && address.kind() === 'ipv4')) return null
  return unmapped(address)
}

/** A bare address. Node's grammar decides, since ipaddr.js also accepts 010.0.0.1, 0xa.1 and 10. */
function parseIp(text: string): IpAddress | null {
  if (isIP(text) === 0 || text.includes('%')) return null
  if (!text.includes(':')) return ipaddr.IPv4.parse(text)

  // ipaddr.js reads the deprecated ::10.0.0.1 as ::ffff:10.0.0.1, so it gets hexadecimal groups only.
  const groups = text.replace(/[0-9.]+$/, (tail) => {
    if (!tail.includes('.')) return tail
    const [a = 0, b = 0, c = 0, d = 0] = ipaddr.IPv4.parse(tail).octets
    return `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`
  })
  return ipaddr.IPv6.parse(groups)
}

function unmapped(address: IpAddress): IpAddress {
  return address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress() ? address.toIPv4Address() : address
}
