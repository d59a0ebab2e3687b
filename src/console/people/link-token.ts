import { createHash, randomBytes } from 'node:crypto'

const tokenBytes = 24

/** The secret of a one-time link. It follows a `#`, which browsers do not send, so it is in no log. */
export function createLinkToken(): string {
  return randomBytes(tokenBytes).toString('base64url')
}

/** All that is stored of the token. A fast hash is enough for 192 random bits. */
export function hashLinkToken(token: string): string {
  return createHash('sha256').update(token).digest('hex')
}
