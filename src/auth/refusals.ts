import { AppError } from '../errors.ts'
import type { KeyKind } from './token.ts'

// The answers to keys that are not accepted.

export function missingAuthorization(): AppError {
  return new AppError('missing_authorization', 'Missing or invalid Authorization header', {
    detail: 'Send the API key as `Authorization: Bearer <key>`.',
    headers: { 'WWW-Authenticate': 'Bearer' },
  })
}

export const formatOf = {
  live: 'This route needs a key that starts with ck_live_. Ingest keys only open /ingest.',
  ingest:
    'This route needs a key that starts with ck_ingest_. Create one with Ingest access in the console, or with `bun callbook key create --kind ingest`.',
} satisfies Record<KeyKind, string>

/** A 401 for a key that was sent. */
export function refused(
  code: 'invalid_api_key_format' | 'invalid_api_key' | 'api_key_expired',
  title: string,
  detail: string,
): AppError {
  return new AppError(code, title, {
    detail,
    headers: { 'WWW-Authenticate': 'Bearer error="invalid_token"' },
  })
}

export function wrongAddress(): AppError {
  return new AppError('ip_address_not_allowed', 'IP address not allowed', {
    detail: "The request's address is not on the key's allow-list.",
  })
}
