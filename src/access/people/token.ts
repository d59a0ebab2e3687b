import { hash, randomBytes } from 'node:crypto'

const linkTokenBytes = 24

/** The secret of a one-time link. It follows a `#`, which browsers do not send, so it is in no log. */
export function createLinkToken(): string {
  return randomBytes(linkTokenBytes).toString('base64url')
}

/** All that is stored of the token of a link or a session. A fast hash is enough for 190 random bits. */
export function hashToken(token: string): string {
  return hash('sha256', token, 'hex')
}
