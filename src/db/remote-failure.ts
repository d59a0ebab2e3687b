import { LibsqlError } from '@libsql/core/api'
import { AppError } from '../errors.ts'

/** The code of a failure on the way to the server: whether the request arrived is unknown. */
export const primaryAwayCode = 'PRIMARY_AWAY'
/** The code of a call that the server refused to authorize. */
export const tokenRefusedCode = 'TOKEN_REFUSED'
const retryAfterSeconds = 2

/** Which of these codes a failed call has; null when the call reached the database. */
export function unservedCode(error: unknown): string | null {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (!(cause instanceof LibsqlError)) continue
    if (cause.code === primaryAwayCode || cause.code === tokenRefusedCode) return cause.code
  }
  return null
}

/** What to tell the client about a failed call, or `whenAway` if the server did not answer; null as above. */
export function unservedDetail(error: unknown, whenAway: string): string | null {
  const code = unservedCode(error)
  if (code === tokenRefusedCode) return 'The primary database refuses DATABASE_AUTH_TOKEN.'
  return code === primaryAwayCode ? whenAway : null
}

export function primaryUnavailable(detail: string, cause?: unknown): AppError {
  return new AppError('unavailable', 'Service unavailable', { detail, retryAfterSeconds, cause })
}
