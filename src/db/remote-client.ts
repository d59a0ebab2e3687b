import { type Client, createClient, LibsqlError } from '@libsql/client'
import { AppError } from '../errors.ts'
import { httpUrl, type RemoteLocation } from './location.ts'

/** The code of a failure on the way to the server, after which nobody knows whether it was asked. */
export const primaryAwayCode = 'PRIMARY_AWAY'
/** The code of a call that the server would not carry out for us. */
export const tokenRefusedCode = 'TOKEN_REFUSED'
const retryAfterSeconds = 2
const unauthorized = 401
const forbidden = 403
const tooManyRequests = 429
const serverErrorMin = 500

interface RemoteClientOptions {
  /** A request that takes longer is given up; the server may carry it out all the same. */
  deadlineMs: number
  /** Requests on their way at once; further ones wait. */
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

/** Reads the answer to its end, so that a connection that breaks in the middle of it counts as broken. */
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

/** Which of these codes a failed call has, if it never got to the database; else null. */
export function unservedCode(error: unknown): string | null {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (!(cause instanceof LibsqlError)) continue
    if (cause.code === primaryAwayCode || cause.code === tokenRefusedCode) return cause.code
  }
  return null
}

/** For a write whose fate is open. */
export function writeUnanswered(cause?: unknown): AppError {
  return new AppError('unavailable', 'Service unavailable', {
    detail:
      'The primary database did not answer in time. The write is whole or absent, and may still arrive.',
    retryAfterSeconds,
    cause,
  })
}

export function tokenRefused(cause: unknown): AppError {
  return new AppError('unavailable', 'Service unavailable', {
    detail: 'The primary database refuses DATABASE_AUTH_TOKEN.',
    retryAfterSeconds,
    cause,
  })
}

export function readUnanswered(cause: unknown): AppError {
  return new AppError('unavailable', 'Service unavailable', {
    detail: 'The database does not answer.',
    retryAfterSeconds,
    cause,
  })
}
