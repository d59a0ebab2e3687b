import { type Client, createClient, LibsqlError } from '@libsql/client'
import { connectionProblem, networkCode } from '../text/connection-problem.ts'
import { httpUrl, type RemoteLocation } from './location.ts'
import { primaryAwayCode, primaryUnreachedCode, tokenRefusedCode } from './remote-failure.ts'

const unauthorized = 401
const forbidden = 403
const tooManyRequests = 429
const serverErrorMin = 500

/** Codes of failed attempts to connect. */
const withoutConnection = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH'])

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
    const code = networkCode(error)
    const why = connectionProblem(Object.assign(new Error(String(error)), code && { code }))
    if (code !== null && withoutConnection.has(code))
      throw new LibsqlError(`the server cannot be reached, ${why}`, primaryUnreachedCode)
    throw new LibsqlError(`the server did not answer, ${why}`, primaryAwayCode)
  }
  if (answer.status === tooManyRequests || answer.status >= serverErrorMin) {
    throw new LibsqlError(`the server answered ${answer.status}`, primaryAwayCode)
  }
  if (answer.status === unauthorized || answer.status === forbidden) {
    throw new LibsqlError(`the server answered ${answer.status}`, tokenRefusedCode)
  }
  return new Response(body, { status: answer.status, headers: answer.headers })
}
