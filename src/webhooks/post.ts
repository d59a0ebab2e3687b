import { type ClientRequest, request as httpRequest, type RequestOptions } from 'node:http'
import { request as httpsRequest } from 'node:https'
import type { Addresses } from './addresses.ts'

const answerBytesMax = 65_536
const errorCharsMax = 200
/** An endpoint that sends 1xx answers without end would keep the main thread busy until the timeout. */
const interimAnswersMax = 20

interface PostOptions {
  body: string
  headers: Record<string, string>
  addresses: Addresses
  timeoutMs: number
  /** Aborts the request. */
  signal: AbortSignal
}

/** How a request ended: with a status, or with an error. */
export interface PostResult {
  status: number | null
  error: string | null
  durationMs: number
}

/**
 * Posts the body over a new connection and checks its address. Ignores redirects and the environment's proxies, and
 * reads at most 64 KiB of the answer.
 */
export async function post(url: URL, options: PostOptions): Promise<PostResult> {
  const { addresses, timeoutMs, signal } = options
  const startedAt = performance.now()
  const ended = (status: number | null, error: string | null): PostResult => ({
    ...{ status, error },
    durationMs: Math.round(performance.now() - startedAt),
  })
  const problem = addresses.literalProblem(url)
  if (problem !== null) return ended(null, problem)
  return await new Promise((resolve) => {
    const request = open(url, options)
    let status: number | null = null
    const end = (error: string | null) => {
      clearTimeout(timer)
      signal.removeEventListener('abort', abort)
      request.destroy()
      resolve(ended(status, status === null ? error : null))
    }
    const timer = setTimeout(() => end(`No answer within ${timeoutMs / 1_000} s`), timeoutMs)
    const abort = () => end('The request was aborted')
    signal.addEventListener('abort', abort)
    request.on('error', (error) => end(sentenceOf(error)))
    request.on('close', () => end('The connection was closed'))
    let interimAnswers = 0
    request.on('information', () => {
      if (++interimAnswers > interimAnswersMax) end(`More than ${interimAnswersMax} answers of 1xx`)
    })
    request.on('response', (answer) => {
      status = answer.statusCode ?? null
      let bytes = 0
      answer.on('data', (part: Uint8Array) => {
        bytes += part.byteLength
        if (bytes > answerBytesMax) end(null)
      })
      answer.on('end', () => end(null))
      answer.on('error', () => end(null))
    })
    request.end(options.body)
  })
}

function open(url: URL, { body, headers, addresses }: PostOptions): ClientRequest {
  const options: RequestOptions = {
    method: 'POST',
    // Opens a new connection: the other side could close a reused one just as the request is sent.
    agent: false,
    lookup: addresses.lookup(url.protocol),
    headers: {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      'user-agent': 'Callbook',
      ...headers,
    },
  }
  return url.protocol === 'https:' ? httpsRequest(url, options) : httpRequest(url, options)
}

const connectionErrors: Record<string, string> = {
  EAI_AGAIN: 'Name server does not answer',
  ECONNREFUSED: 'Connection refused',
  ECONNRESET: 'Connection reset',
  EHOSTUNREACH: 'Host unreachable',
  ENOTFOUND: 'Host not found',
  ETIMEDOUT: 'Connection timed out',
}

function sentenceOf(error: Error): string {
  const code = 'code' in error ? String(error.code) : ''
  const known = connectionErrors[code]
  if (known) return `${known} (${code})`
  const text = code === 'EREFUSEDADDRESS' || !code ? error.message : `${code}: ${error.message}`
  return text.slice(0, errorCharsMax)
}
