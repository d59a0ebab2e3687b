import { hash, randomBytes } from 'node:crypto'

/** `live` keys open `/v1` and the agent protocols, `ingest` keys open `/ingest`; neither opens the other's. */
export type KeyKind = 'live' | 'ingest'

const prefixes: Readonly<Record<KeyKind, string>> = { live: 'ck_live_', ingest: 'ck_ingest_' }
const secretBytes = 30
const hintChars = 4
const secretForm = /^[0-9a-f]{60}$/

/** A new key: its kind's prefix and 60 lowercase hex characters, 240 bits from the system's generator. */
export function generateKey(kind: KeyKind): string {
  return prefixes[kind] + randomBytes(secretBytes).toString('hex')
}

/** Whether the text is a key as `generateKey` makes them. */
export function isKey(text: string, kind: KeyKind): boolean {
  return hasKeyPrefix(text, kind) && secretForm.test(text.slice(prefixes[kind].length))
}

/**
 * SHA-256 of the key's UTF-8, as 64 lowercase hex characters. A fast hash is enough, since 240 random bits cannot be
 * guessed. Never throws, whatever a client sends.
 */
export function hashKey(key: string): string {
  return hash('sha256', key, 'hex')
}

/** The last four characters, by which people tell their keys apart. */
export function keyHint(key: string): string {
  return key.slice(-hintChars)
}

/** The token of `Authorization: Bearer <token>`, or null for no header, another scheme or no token. */
export function bearerToken(header: string | null): string | null {
  if (header === null) return null
  const scheme = /^[ \t]*bearer[ \t]+/i.exec(header)
  return scheme === null ? null : header.slice(scheme[0].length).trim() || null
}

/** Whether the token looks like a key of that kind; says nothing about whether such a key exists. */
export function hasKeyPrefix(token: string, kind: KeyKind): boolean {
  return token.startsWith(prefixes[kind])
}
