import { LibsqlError } from '@libsql/core/api'
import { AppError, type AppErrorOptions } from '../errors.ts'
import { UnusableDatabase } from './unusable.ts'

/** The code of a failure on the way to the server: whether the request arrived is unknown. */
export const primaryAwayCode = 'PRIMARY_AWAY'
/** The code of a request that was never sent, since no connection was made. */
export const primaryUnreachedCode = 'PRIMARY_UNREACHED'
/** The code of a call that the server refused to authorize. */
export const tokenRefusedCode = 'TOKEN_REFUSED'
const retryAfterSeconds = 2

/** The failure of a call that never reached the database, or may not have; null if it did. */
function unservedFailure(error: unknown): LibsqlError | null {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (!(cause instanceof LibsqlError)) continue
    if ([primaryAwayCode, primaryUnreachedCode, tokenRefusedCode].includes(cause.code)) return cause
  }
  return null
}

/** Which of these codes a failed call has; null when the call reached the database. */
export function unservedCode(error: unknown): string | null {
  return unservedFailure(error)?.code ?? null
}

/** What to tell the client about a failed call that was not served; null as above. */
export function unservedDetail(error: unknown, details: { away: string; unreached: string }): string | null {
  switch (unservedCode(error)) {
    case tokenRefusedCode:
      return 'The primary database refuses DATABASE_AUTH_TOKEN.'
    case primaryUnreachedCode:
      return details.unreached
    case primaryAwayCode:
      return details.away
    default:
      return null
  }
}

/** The same for an operator; any other error as it is. @param url of the server */
export function asUnusable(error: unknown, url: string): unknown {
  const failure = unservedFailure(error)
  if (!failure) return error
  // libSQL puts the code in front, once for each layer that the error came through.
  const reason = failure.message.replace(/^(?:\w+: )+/, '')
  return new UnusableDatabase(
    `${url} cannot be used: ${reason}.`,
    'Check the address and DATABASE_AUTH_TOKEN, and that the server runs and can be reached from here.',
  )
}

export function primaryUnavailable(detail: string, options: AppErrorOptions = {}): AppError {
  return new AppError('unavailable', 'Service unavailable', { detail, retryAfterSeconds, ...options })
}
