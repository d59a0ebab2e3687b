import { describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { bearerToken, generateKey, hashKey, hasKeyPrefix, keyHint } from '../../../src/access/keys/token.ts'

describe('keys', () => {
  test('a key is its prefix and 60 lowercase hex characters, and never the same twice', () => {
    expect(generateKey('live')).toMatch(/^ck_live_[0-9a-f]{60}$/)
    expect(generateKey('ingest')).toMatch(/^ck_ingest_[0-9a-f]{60}$/)
    expect(new Set(Array.from({ length: 1000 }, () => generateKey('live'))).size).toBe(1000)
  })

  test('the hash is the SHA-256 of the UTF-8 text in hex', () => {
    expect(hashKey('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
    const key = generateKey('live')
    expect(hashKey(key)).toBe(createHash('sha256').update(key, 'utf8').digest('hex'))
  })

  test.each(['', 'ü', '\u00ff\u0080\u0000', '\ud800', '\udc00\ud800', '📞', 'x'.repeat(100_000)])(
    'any text a header may carry has a hash (%#)',
    (text) => {
      expect(hashKey(text)).toMatch(/^[0-9a-f]{64}$/)
    },
  )

  test('the hint is the last four characters', () => {
    const key = generateKey('ingest')
    expect(keyHint(key)).toBe(key.slice(key.length - 4))
    expect(keyHint(key)).toHaveLength(4)
  })

  test('neither kind is accepted as the other, and prefixes are case-sensitive', () => {
    expect(hasKeyPrefix(generateKey('live'), 'live')).toBe(true)
    expect(hasKeyPrefix(generateKey('ingest'), 'ingest')).toBe(true)
    expect(hasKeyPrefix(generateKey('live'), 'ingest')).toBe(false)
    expect(hasKeyPrefix(generateKey('ingest'), 'live')).toBe(false)
    expect(hasKeyPrefix('CK_LIVE_00', 'live')).toBe(false)
    expect(hasKeyPrefix('', 'live')).toBe(false)
  })
})

describe('bearer token', () => {
  test.each(['Bearer k', 'bearer k', 'BEARER k', 'bEaReR   k', 'Bearer\tk', ' Bearer \t k \t '])(
    '%j carries k',
    (header) => {
      expect(bearerToken(header)).toBe('k')
    },
  )

  test.each([
    null,
    '',
    'Bearer',
    'Bearer ',
    'Bearer \t',
    'Basic k',
    'Bearerk',
    'k',
    'Bearer-k',
    'X Bearer k',
    'Bearer\nk',
  ])('%j carries none', (header) => {
    expect(bearerToken(header)).toBeNull()
  })

  test('white space inside belongs to the token, which makes it an unknown key', () => {
    expect(bearerToken('Bearer a b')).toBe('a b')
  })

  // In quadratic time this would take hours, and the test would run out of time.
  test('a hostile header is parsed in linear time', () => {
    expect(bearerToken(`Bearer ${' '.repeat(500_000)}x${' '.repeat(500_000)}y`)).toEndWith('y')
    expect(bearerToken(' \t'.repeat(500_000))).toBeNull()
  })
})
