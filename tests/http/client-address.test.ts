import { describe, expect, test } from 'bun:test'
import { compileIpRules } from '../../src/access/keys/ip-rules.ts'
import { clientAddress } from '../../src/http/client-address.ts'
import fc from '../support/fast-check.ts'

const trustedProxies = compileIpRules(['10.0.0.0/8', '::1'])

function from(peer: string | null, forwardedFor: string | null): string | null {
  return clientAddress({ peer, forwardedFor, trustedProxies })
}

describe('client address', () => {
  test('without trusted proxies it is the peer, whatever the header says', () => {
    const client = clientAddress({ peer: '203.0.113.9', forwardedFor: '10.0.0.1', trustedProxies: null })
    expect(client).toBe('203.0.113.9')
  })

  test('a peer that is not trusted speaks for itself only', () => {
    expect(from('203.0.113.9', '192.0.2.1')).toBe('203.0.113.9')
    expect(from('203.0.113.9', 'garbage')).toBe('203.0.113.9')
  })

  test('a trusted peer without the header is the client', () => {
    expect(from('10.0.0.1', null)).toBe('10.0.0.1')
    expect(from('10.0.0.1', '')).toBe('10.0.0.1')
    expect(from('10.0.0.1', ' ')).toBe('10.0.0.1')
  })

  test('it is the rightmost address that is not a trusted proxy', () => {
    expect(from('10.0.0.1', '192.0.2.1')).toBe('192.0.2.1')
    expect(from('10.0.0.1', '198.51.100.1, 192.0.2.1')).toBe('192.0.2.1')
    expect(from('10.0.0.1', '198.51.100.1,192.0.2.1 ,\t10.2.2.2, 10.3.3.3')).toBe('192.0.2.1')
    expect(from('::1', '2001:db8::5, ::1')).toBe('2001:db8::5')
  })

  test('what a client wrote left of its own address changes nothing', () => {
    expect(from('10.0.0.1', '10.0.0.1, 192.0.2.1')).toBe('192.0.2.1')
    expect(from('10.0.0.1', 'garbage, , 192.0.2.1')).toBe('192.0.2.1')
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (forged) => {
        expect(from('10.0.0.1', `${forged},192.0.2.1`)).toBe('192.0.2.1')
      }),
    )
  })

  test('when all are trusted it is the leftmost', () => {
    expect(from('10.0.0.1', '10.4.4.4, 10.3.3.3')).toBe('10.4.4.4')
  })

  test('a malformed or empty entry on the way makes it unknown', () => {
    for (const header of [
      'unknown',
      '192.0.2.1, unknown',
      '192.0.2.1,',
      '192.0.2.1, , 10.1.1.1',
      'x, 10.1.1.1',
      ',',
    ])
      expect(from('10.0.0.1', header)).toBeNull()
    for (const entry of ['010.0.0.1', '10.1', '_hidden', '1.2.3.4/32', '"1.2.3.4"'])
      expect(from('10.0.0.1', entry)).toBeNull()
  })

  test('an unknown or malformed peer is unknown and trusted with nothing', () => {
    expect(from(null, '192.0.2.1')).toBeNull()
    expect(from('', '192.0.2.1')).toBeNull()
    expect(from('/run/callbook.sock', '192.0.2.1')).toBeNull()
  })

  test('ports, brackets, zones and IPv4-mapped forms are seen through, on every hop', () => {
    expect(from('::ffff:10.0.0.1', '192.0.2.1:5678')).toBe('192.0.2.1')
    expect(from('[::1]:1234', '[2001:DB8::1]:443, [::ffff:10.1.1.1]:80, 10.2.2.2:9')).toBe('2001:db8::1')
    expect(from('::ffff:203.0.113.9', null)).toBe('203.0.113.9')
    expect(from('fe80::1%eth0', null)).toBe('fe80::1')
  })

  test('a header of many hops takes time in proportion to its length', () => {
    // Quadratic time would run into the test's time limit.
    expect(from('10.0.0.1', `192.0.2.1${',10.0.0.1'.repeat(200_000)}`)).toBe('192.0.2.1')
  })
})
