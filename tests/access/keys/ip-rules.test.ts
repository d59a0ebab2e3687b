import { describe, expect, test } from 'bun:test'
import { isIP } from 'node:net'
import {
  compileIpRules,
  networkOf,
  parseAddress,
  validateIpEntries,
} from '../../../src/access/keys/ip-rules.ts'
import fc, { runs } from '../../support/fast-check.ts'

function allows(entries: string[], address: string | null): boolean {
  return compileIpRules(entries).allows(address)
}

describe('allow-list', () => {
  test('an empty list and * allow everyone, malformed and unknown addresses included', () => {
    for (const entries of [[], ['*'], [' * '], ['10.0.0.1', '*']]) {
      for (const address of ['192.0.2.1', '2001:db8::1', 'garbage', '', null])
        expect(allows(entries, address)).toBe(true)
    }
  })

  test('a malformed or unknown address passes no other list, not even one of all addresses', () => {
    for (const address of [
      'garbage',
      '',
      '10.0.0',
      '10.0.0.256',
      '010.0.0.1',
      '0xa.0.0.1',
      '167772161',
      null,
    ])
      expect(allows(['0.0.0.0/0', '::/0'], address)).toBe(false)
  })

  test.each([
    ['10.0.0.1', '10.0.0.1', true],
    ['10.0.0.1', '10.0.0.2', false],
    ['10.0.0.1', '::ffff:10.0.0.1', true],
    ['10.0.0.1', '::ffff:a00:1', true],
    ['::ffff:10.0.0.1', '10.0.0.1', true],
    ['::ffff:10.0.0.0/104', '10.200.3.4', true],
    ['::ffff:10.0.0.0/104', '11.0.0.1', false],
    ['::ffff:0:0/96', '203.0.113.9', true],
    ['::ffff:10.0.0.1/128', '10.0.0.2', false],
    ['10.0.0.0/8', '10.255.255.255', true],
    ['10.0.0.0/8', '11.0.0.0', false],
    ['10.0.0.5/24', '10.0.0.77', true],
    ['10.0.0.5/24', '10.0.1.5', false],
    ['10.0.0.5/32', '10.0.0.5', true],
    ['0.0.0.0/0', '203.0.113.9', true],
    ['0.0.0.0/0', '2001:db8::1', false],
    ['::/0', '2001:db8::1', true],
    ['::/0', '203.0.113.9', false],
    ['::/0', '::ffff:203.0.113.9', false],
    ['2001:db8::/32', '2001:DB8:ffff::1', true],
    ['2001:db8::/33', '2001:db8:8000::1', false],
    ['2001:db8::7/127', '2001:db8::6', true],
    ['::1', '[::1]:443', true],
    ['fe80::/10', 'fe80::1%eth0', true],
    ['fe80::1', 'fe80::1%enp0s31f6', true],
    ['192.0.2.1', '192.0.2.1:5678', true],
    ['10.0.0.1', '::10.0.0.1', false],
    ['64:ff9b::10.0.0.1', '64:ff9b::a00:1', true],
    [' 10.0.0.1 ', '10.0.0.1', true],
  ])('%s and %s: %p', (entry, address, expected) => {
    expect(allows([entry], address)).toBe(expected)
  })

  test('one entry that matches is enough', () => {
    const rules = compileIpRules(['192.0.2.1', '2001:db8::/32', '10.0.0.0/8'])
    expect(['192.0.2.1', '2001:db8::5', '10.1.1.1'].every((address) => rules.allows(address))).toBe(true)
    expect(['192.0.2.2', '2001:db9::5', '11.1.1.1'].some((address) => rules.allows(address))).toBe(false)
  })
})

describe('entries', () => {
  test('every bad entry is named with its place, and a good list has none', () => {
    expect(validateIpEntries(['10.0.0.1', 'nope', '::1', '10.0.0.0/33'])).toEqual([
      { index: 1, entry: 'nope', message: 'is not an IPv4 or IPv6 address, a CIDR range or *' },
      { index: 3, entry: '10.0.0.0/33', message: 'has a prefix length that is not between 0 and 32' },
    ])
    expect(validateIpEntries(['10.0.0.1', '10.0.0.0/8', '::1', '::/0', '*'])).toEqual([])
    expect(validateIpEntries([])).toEqual([])
  })

  test.each([
    '',
    ' ',
    '10.1',
    '10',
    '0xa.0.0.1',
    '010.0.0.1',
    '10.0.0.01',
    '10.0.0.256',
    '10.0.0.1.',
    '10.0.0.1/08',
    '10.0.0.0/',
    '10.0.0.0/-1',
    '10.0.0.0/8/8',
    '10.0.0.0/255.0.0.0',
    '/8',
    '10.0.0.1:80',
    '[::1]',
    '::1/129',
    '::1/+1',
    ':::',
    '1:2:3:4:5:6:7',
    '1::2::3',
    'fe80::1%eth0',
    '::ffff:010.0.0.1',
    '::ffff:10.0.0.0/8',
    '::ffff:0:0/95',
    '**',
    '10.0.0.*',
    'localhost',
    '٣.0.0.1',
    '10.0.0.1\n10.0.0.2',
    '10.0.0.0/8 # office',
    '10.0.0.1,10.0.0.2',
  ])('%j is refused', (entry) => {
    expect(validateIpEntries([entry])).toHaveLength(1)
    expect(() => compileIpRules(['*', entry])).toThrow(RangeError)
  })
})

describe('address', () => {
  test.each([
    ['1.2.3.4', '1.2.3.4'],
    ['1.2.3.4:5678', '1.2.3.4'],
    ['1.2.3.4:0', '1.2.3.4'],
    ['[::1]', '::1'],
    ['[::1]:443', '::1'],
    ['::1:443', '::1:443'],
    ['2001:0DB8:0:0:0:0:0:1', '2001:db8::1'],
    ['2001:db8:0:1:1:1:1:1', '2001:db8:0:1:1:1:1:1'],
    ['::FFFF:10.0.0.1', '10.0.0.1'],
    ['0:0:0:0:0:ffff:0a00:0001', '10.0.0.1'],
    ['[::ffff:10.0.0.1]:443', '10.0.0.1'],
    ['::ffff:10.0.0.1%eth0', '10.0.0.1'],
    ['fe80::1%eth0', 'fe80::1'],
    ['[fe80::1%25eth0.100]:80', 'fe80::1'],
    ['::10.0.0.1', '::a00:1'],
    ['1:2:3:4:5:6:7.8.9.10', '1:2:3:4:5:6:708:90a'],
    ['::', '::'],
  ])('%s is %s', (text, canonical) => {
    expect(parseAddress(text)).toBe(canonical)
  })

  test.each([
    '',
    ' ',
    'unknown',
    '_hidden',
    '1.2.3',
    '1',
    '01.2.3.4',
    '1.2.3.4.5',
    '1.2.3.4:',
    '1.2.3.4:65536',
    '1.2.3.4:x',
    '1.2.3.4:123456',
    '[1.2.3.4]',
    '[1.2.3.4]:80',
    '1.2.3.4%eth0',
    '[::1',
    '::1]',
    '[]',
    '[::1]443',
    '[::1]:',
    '[[::1]]',
    '[::1]:99999',
    '::1%',
    '::%%',
    '%eth0',
    '[%eth0]',
    '1.2.3.4/32',
    '*',
    '1.2.3.4, 5.6.7.8',
    ' 1.2.3.4',
    '::1\n',
    '::ffff:1.2.3',
    '::ffff:1.2.3.04',
    '12345::',
    '1.2.3.4::',
    'x'.repeat(100_000),
    '1'.repeat(100_000),
    ':'.repeat(9999),
  ])('%j is not an address', (text) => {
    expect(parseAddress(text)).toBeNull()
  })

  test('the canonical form is its own canonical form', () => {
    fc.assert(
      fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), (text) => {
        const canonical = parseAddress(text)
        expect(canonical).not.toBeNull()
        expect(canonical === null ? null : parseAddress(canonical)).toBe(canonical)
      }),
    )
  })

  test('text made of address characters is an address exactly when Node says so, and never throws', () => {
    const text = fc.string({ unit: fc.constantFrom(...'0129afF:::..x '), maxLength: 24 })
    fc.assert(
      fc.property(text, (candidate) => {
        const hasPort = /^[0-9.]+:[0-9]+$/.test(candidate)
        if (!hasPort) expect(parseAddress(candidate) !== null).toBe(isIP(candidate) !== 0)
      }),
      runs(2_000),
    )
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (any) => void parseAddress(any)))
  })
})

describe('against a slow reference', () => {
  interface Address {
    bits: string
  }

  // Addresses close to each other, or hardly any would match.
  const ipv4 = fc.tuple(
    fc.constantFrom(10, 11, 138),
    fc.constantFrom(0, 128),
    fc.constantFrom(0, 255),
    fc.nat(255),
  )
  const ipv6 = fc.array(fc.constantFrom(0, 1, 0x8000, 0xffff, 0x2001), { minLength: 8, maxLength: 8 })
  const address: fc.Arbitrary<Address> = fc.oneof(
    ipv4.map((octets) => ({ bits: octets.map((octet) => octet.toString(2).padStart(8, '0')).join('') })),
    ipv6.map((groups) => ({ bits: groups.map((group) => group.toString(2).padStart(16, '0')).join('') })),
  )

  function octets(bits: string): string {
    return (bits.match(/.{8}/g) ?? []).map((octet) => Number.parseInt(octet, 2)).join('.')
  }

  function groups(bits: string): string {
    return (bits.match(/.{16}/g) ?? []).map((group) => Number.parseInt(group, 2).toString(16)).join(':')
  }

  /** Every way to write the address that the rules must see through. */
  function spellings({ bits }: Address): string[] {
    if (bits.length === 128)
      return [groups(bits), groups(bits).toUpperCase(), `[${groups(bits)}]:1`, `${groups(bits)}%e0`]
    return [octets(bits), `${octets(bits)}:80`, `::ffff:${octets(bits)}`, `0:0:0:0:0:FFFF:${groups(bits)}`]
  }

  /** A mapped address is the IPv4 one. */
  function normalised(bits: string): string {
    const mapped = '0'.repeat(80) + '1'.repeat(16)
    return bits.length === 128 && bits.startsWith(mapped) ? bits.slice(96) : bits
  }

  test('a range allows exactly the addresses of its family that share its first bits', () => {
    const sample = fc.record({ network: address, client: address, prefix: fc.nat(128), share: fc.nat(128) })
    fc.assert(
      fc.property(sample, ({ network, client, prefix, share }) => {
        const length = Math.min(prefix, network.bits.length)
        // Half of the clients share some bits with the network, so that every prefix length is met from both sides.
        const isKin = network.bits.length === client.bits.length
        const bits = isKin ? network.bits.slice(0, share) + client.bits.slice(share) : client.bits
        const networkBits = normalised(network.bits)
        const clientBits = normalised(bits)
        if (network.bits.length !== networkBits.length && length < 96) return

        const networkLength = length - (network.bits.length - networkBits.length)
        const expected =
          networkBits.length === clientBits.length &&
          networkBits.slice(0, networkLength) === clientBits.slice(0, networkLength)
        const entries =
          network.bits.length === 32
            ? [`${octets(network.bits)}/${length}`, `::ffff:${octets(network.bits)}/${length + 96}`]
            : [`${groups(network.bits)}/${length}`]
        for (const entry of entries) {
          for (const spelling of spellings({ bits })) expect(allows([entry], spelling)).toBe(expected)
        }
      }),
      runs(2_000),
    )
  })
})

test('a network is one IPv4 address, or the first 64 bits of an IPv6 address', () => {
  expect(networkOf('192.0.2.1')).not.toBe(networkOf('192.0.2.2'))
  expect(networkOf('2001:db8::1')).toBe(networkOf('2001:db8::ffff:ffff:ffff:ffff'))
  expect(networkOf('2001:db8::1')).not.toBe(networkOf('2001:db8:0:1::1'))
  expect(networkOf(null)).not.toBe(networkOf('::'))
})
