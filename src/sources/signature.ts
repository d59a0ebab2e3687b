import { createHash, createHmac, createPublicKey, timingSafeEqual, verify } from 'node:crypto'

// Building blocks of the platforms' signatures. Every comparison takes constant time.

type Encoding = 'hex' | 'base64'
const digits = /^[0-9]{1,15}$/
const digestBytes = { sha1: 20, sha256: 32, sha512: 64 }

interface Hmac {
  key: string | Uint8Array
  /** What is signed, concatenated. */
  parts: readonly (string | Uint8Array)[]
  /** The signature as sent. */
  signature: string | null | undefined
  algorithm?: 'sha1' | 'sha256' | 'sha512'
  encoding?: Encoding
}

export function isHmac({ key, parts, signature, algorithm = 'sha256', encoding = 'hex' }: Hmac): boolean {
  const given = decode(signature, encoding)
  // Checked before hashing: a body may be large, and a platform may sign in many ways.
  if (given?.length !== digestBytes[algorithm]) return false
  const hmac = createHmac(algorithm, key)
  for (const part of parts) hmac.update(part)
  return timingSafeEqual(given, hmac.digest())
}

/** Whether the secret itself was sent. */
export function isSecret(given: string | null | undefined, secret: string): boolean {
  return typeof given === 'string' && timingSafeEqual(digestOf(given), digestOf(secret))
}

/** @param publicKey 32 bytes in base64 */
export function isEd25519(publicKey: string, signed: Uint8Array, signature: string | null): boolean {
  const [key, given] = [decode(publicKey, 'base64'), decode(signature, 'base64')]
  if (key?.length !== 32 || given?.length !== 64) return false
  const x = key.toString('base64url')
  return verify(
    null,
    signed,
    createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' }),
    given,
  )
}

/** Milliseconds since 1970 of a time in digits; null for anything else. */
export function readDigits(text: string | null | undefined, unitMs: 1 | 1_000): number | null {
  return text && digits.test(text) ? Number(text) * unitMs : null
}

/** Both bounds are inclusive. */
export function isRecent(
  at: number | null,
  now: number,
  bounds: { pastMs: number; futureMs: number },
): boolean {
  return at !== null && now - at <= bounds.pastMs && at - now <= bounds.futureMs
}

/** The token of `Authorization: Bearer`, or the whole header if `Bearer` is missing. */
export function bearerOf(headers: Headers): string | null {
  return headers.get('authorization')?.replace(/^Bearer +/i, '') ?? null
}

/** Decodes strictly: null unless encoding the result gives the same text. Hexadecimal digits may be upper-case. */
export function decode(text: string | null | undefined, encoding: Encoding): Buffer | null {
  if (!text) return null
  const bytes = Buffer.from(text, encoding)
  return bytes.toString(encoding) === (encoding === 'hex' ? text.toLowerCase() : text) ? bytes : null
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
