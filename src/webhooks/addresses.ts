import { lookup } from 'node:dns/promises'
import { isIP, type LookupFunction } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import ipaddr from 'ipaddr.js'

const urlCharsMax = 2_000
const resolveMsMax = 3_000
/** Holds all public IPv6 addresses: https://www.iana.org/assignments/ipv6-unicast-address-assignments */
const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3')
/**
 * Public by number, but inside a cloud its own servers: Azure's wire server
 * (https://learn.microsoft.com/azure/virtual-network/what-is-ip-address-168-63-129-16), IBM Cloud's service endpoints
 * (https://cloud.ibm.com/docs/vpc?topic=vpc-service-endpoints-for-vpc). Those of others are in reserved ranges.
 */
const cloudServers = ['168.63.129.16/32', '161.26.0.0/16', '166.8.0.0/14'].map((range) =>
  ipaddr.IPv4.parseCIDR(range),
)
/** Names no address, since who owns a project may not know the network of the service. */
const refusedText = 'The address is not public'

interface ResolvedAddress {
  address: string
  family: number
}

/** Returns all addresses of a host. @throws if there are none */
type Resolve = (host: string) => Promise<ResolvedAddress[]>

/** Uses the system's resolver, as connections do. */
const systemResolve: Resolve = (host) => lookup(host, { all: true })

interface AddressesOptions {
  /** The addresses of WEBHOOK_ALLOW_PRIVATE; null when it lists none. */
  allowList: { allows(address: string): boolean } | null
  resolve?: Resolve
}

/** Where webhooks may be sent: to public addresses by https, and to those of WEBHOOK_ALLOW_PRIVATE. */
export class Addresses {
  readonly #allowList: AddressesOptions['allowList']
  readonly #resolve: Resolve

  constructor({ allowList, resolve = systemResolve }: AddressesOptions) {
    this.#allowList = allowList
    this.#resolve = resolve
  }

  /**
   * Why a webhook may not have this URL, as a sentence without its subject; null when it may. A host that cannot be
   * resolved now passes: each connection checks its address again.
   */
  async problemOf(text: string): Promise<string | null> {
    if (text.length > urlCharsMax || !URL.canParse(text)) return 'must be a complete URL'
    const url = new URL(text)
    if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'must start with https://'
    if (url.username !== '' || url.password !== '') return 'must not contain a user name or a password'
    if (url.hash !== '') return 'must not have a fragment'
    const literal = literalOf(url)
    const addresses = literal === null ? await this.#resolveNow(url.hostname) : [literal]
    if (addresses?.some((address) => this.allows(address, url.protocol))) return null
    if (url.protocol === 'http:')
      return 'must start with https://; http is for addresses that WEBHOOK_ALLOW_PRIVATE lists'
    if (addresses === null) return null
    return 'must lead to a public address (WEBHOOK_ALLOW_PRIVATE can allow others)'
  }

  /** Whether a connection to this address may be opened. @param protocol `https:` or `http:` */
  allows(address: string, protocol: string): boolean {
    if (this.#allowList?.allows(address)) return true
    return protocol === 'https:' && isPublic(address)
  }

  /** Why the IP address in a URL may not be connected to. Null if it may, and for a host name, which `lookup` checks. */
  literalProblem(url: URL): string | null {
    const literal = literalOf(url)
    return literal === null || this.allows(literal, url.protocol) ? null : refusedText
  }

  /** A lookup function for `node:http` that returns only allowed addresses. */
  lookup(protocol: string): LookupFunction {
    return (host, options, callback) => {
      this.#resolve(host).then(
        (addresses) => {
          const good = addresses.filter(({ address }) => this.allows(address, protocol))
          const [first] = good
          if (!first) callback(Object.assign(new Error(refusedText), { code: 'EREFUSEDADDRESS' }), '', 0)
          else if (options.all) callback(null, good)
          else callback(null, first.address, first.family)
        },
        (error) => callback(error, '', 0),
      )
    }
  }

  /** Null when the host cannot be resolved. */
  async #resolveNow(host: string): Promise<string[] | null> {
    const resolution = this.#resolve(host).then(
      (addresses) => addresses.map(({ address }) => address),
      () => null,
    )
    return await Promise.race([resolution, sleep(resolveMsMax, null, { ref: false })])
  }
}

/** Whether the address is neither private nor reserved. */
function isPublic(text: string): boolean {
  if (isIP(text) === 0) return false
  const address = ipaddr.process(text)
  if (address.range() !== 'unicast') return false
  return address instanceof ipaddr.IPv4
    ? !cloudServers.some((range) => address.match(range))
    : address.match(globalUnicast)
}

/** The IP address that a URL has in place of a host name; null for a host name. */
function literalOf({ hostname }: URL): string | null {
  const bare = hostname.replace(/^\[(.*)\]$/, '$1')
  return isIP(bare) === 0 ? null : bare
}
