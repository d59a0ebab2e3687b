import { createHash, createHmac, createPublicKey, timingSafeEqual, verify } from 'node:crypto'

// Building blocks of the platforms' signatures. Every comparison takes constant time.

type Encoding = 'hex' | 'base64' | 'base64url'
const digits = /^[0-9]{1,15}$/
const digestBytes = { sha1: 20, sha256: 32, sha512: 64 }
/** Most platforms sign the time and mean five minutes. */
const minutesMs = 300_000
/** Platforms send one signature for each of their secrets; of more, only the first are compared. */
const signaturesMax = 10

interface Hmac {
  key: string | Uint8Array
  /** What is signed, concatenated. */
  parts: readonly (string | Uint8Array)[]
  /** The signatures as sent: any of them may be the right one. */
  signatures: readonly (string | null | undefined)[]
  algorithm?: 'sha1' | 'sha256' | 'sha512'
  encoding?: Encoding
}

/** Hashes the parts at most once, since a body may be large. */
export function isHmac({ key, parts, signatures, algorithm = 'sha256', encoding = 'hex' }: Hmac): boolean {
  const candidates = signatures
    .slice(0, signaturesMax)
    .map((signature) => decode(signature, encoding))
    .filter((bytes) => bytes?.length === digestBytes[algorithm])
  if (candidates.length === 0) return false
  const hmac = createHmac(algorithm, key)
  for (const part of parts) hmac.update(part)
  const digest = hmac.digest()
  return candidates.some((bytes) => bytes && timingSafeEqual(bytes, digest))
}

/** Whether the secret itself was sent. */
export function isSecret(candidate: string | null | undefined, secret: string): boolean {
  return typeof candidate === 'string' && timingSafeEqual(digestOf(candidate), digestOf(secret))
}

/** @param publicKey 32 bytes in base64 */
export function isEd25519(publicKey: string, signed: Uint8Array, signature: string | null): boolean {
  const [key, signatureBytes] = [decode(publicKey, 'base64'), decode(signature, 'base64')]
  if (key?.length !== 32 || signatureBytes?.length !== 64) return false
  const x = key.toString('base64url')
  return verify(
    null,
    signed,
    createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' }),
    signatureBytes,
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
  { pastMs = minutesMs, futureMs = minutesMs }: { pastMs?: number; futureMs?: number } = {},
): boolean {
  return at !== null && now - at <= pastMs && at - now <= futureMs
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
