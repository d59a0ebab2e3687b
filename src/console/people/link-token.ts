import { createHash, randomBytes } from 'node:crypto'

const tokenBytes = 24

/** The secret of a one-time link. It is put behind a `#`, which browsers keep to themselves, so no log has it. */
export function createLinkToken(): string {
  return randomBytes(tokenBytes).toString('base64url')
}

/** All that is stored of it: 192 random bits cannot be guessed from a fast hash. */
export function hashLinkToken(token: string): string {
  return createHash('sha256').update(token).digest('hex')
}
