import { type Client, createClient, LibsqlError } from '@libsql/client'
import { AppError } from '../errors.ts'
import { httpUrl, type RemoteLocation } from './location.ts'

/** The code of a failure on the way to the server: whether the request arrived is unknown. */
const primaryAwayCode = 'PRIMARY_AWAY'
/** The code of a call that the server refused to authorize. */
const tokenRefusedCode = 'TOKEN_REFUSED'
const retryAfterSeconds = 2
const unauthorized = 401
const forbidden = 403
const tooManyRequests = 429
const serverErrorMin = 500

interface RemoteClientOptions {
  /** After this time a request fails; the server may still carry it out. */
  deadlineMs: number
  /** Concurrent requests; further ones wait. */
  concurrency: number
}

/** `@libsql/client` over HTTP, where a batch is one request, with a deadline. */
export function openRemoteClient(
  { url, authToken }: RemoteLocation,
  { deadlineMs, concurrency }: RemoteClientOptions,
): Client {
  return createClient({
    url: httpUrl(url),
    ...(authToken === null ? {} : { authToken }),
    intMode: 'number',
    concurrency,
    fetch: (request: Request) => fetchWhole(request, deadlineMs),
  })
}

/** Reads the whole answer, so that a connection that breaks in the middle counts as a failure. */
async function fetchWhole(request: Request, deadlineMs: number): Promise<Response> {
  let answer: Response
  let body: ArrayBuffer
  try {
    answer = await fetch(request, { signal: AbortSignal.timeout(deadlineMs) })
    body = await answer.arrayBuffer()
  } catch (error) {
    throw new LibsqlError(`The primary did not answer: ${String(error)}`, primaryAwayCode)
  }
  if (answer.status === tooManyRequests || answer.status >= serverErrorMin) {
    throw new LibsqlError(`The primary answered ${answer.status}`, primaryAwayCode)
  }
  if (answer.status === unauthorized || answer.status === forbidden) {
    throw new LibsqlError(`The primary answered ${answer.status}: see DATABASE_AUTH_TOKEN`, tokenRefusedCode)
  }
  return new Response(body, { status: answer.status, headers: answer.headers })
}

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
