import { request as httpRequest, type IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import type { LookupFunction } from 'node:net'
import { connectionProblem } from '../../text/connection-problem.ts'
import { retryAfter } from '../../text/retry-after.ts'
import { FetchFailure, failureOf } from './failure.ts'

const redirectsMax = 3
const interimAnswersMax = 20
const redirects = [301, 302, 303, 307, 308]

/** Which addresses may be connected to. */
export interface AddressGuard {
  /** Why the IP address in a URL may not be; null if it may, and for a host name. */
  literalProblem(url: URL): string | null
  /** Finds only addresses that may be. */
  lookup(protocol: string): LookupFunction
}

export interface DownloadOptions {
  guard: AddressGuard
  signal: AbortSignal
  /** How long the other side may send nothing. */
  idleMs: number
  now: () => number
}

export interface Download {
  url: string
  /** Sent to the host of the URL alone. */
  headers?: Record<string, string>
  /** What people call that host. */
  label?: string
  /** A text to send instead of asking with GET. */
  body?: string
  /** What is asked for, in words: a recording by default. */
  what?: string
}

/** The answer 200 of the last hop. */
export interface Answer {
  /** Who answers. */
  who: string
  isJson: boolean
  /** The length that it says; null if it says none. */
  bytes: number | null
  /** @throws FetchFailure if it breaks off */
  parts: AsyncGenerator<Uint8Array>
  close(): void
}

/** Opens a URL and follows its redirects. Read the answer to the end, or close it. @throws FetchFailure */
export async function download(request: Download, options: DownloadOptions): Promise<Answer> {
  const { what = 'recording' } = request
  const first = urlOf(request.url, what)
  let url = first
  for (let hop = 0; hop <= redirectsMax; hop++) {
    options.signal.throwIfAborted()
    const isOwn = url.origin === first.origin
    const who = (isOwn && request.label) || url.hostname
    const sent = isOwn ? { headers: request.headers, body: request.body } : { headers: {}, body: undefined }
    const { answer, close } = await connect(url, who, { ...options, ...sent })
    const status = answer.statusCode ?? 0
    if (status === 200) return answerOf(answer, { who, what, close, idleMs: options.idleMs })
    close()
    if (!redirects.includes(status)) {
      const waitMs = retryAfter(answer.headers['retry-after'], options.now()) ?? 0
      throw failureOf(status, { who, waitMs, hasKey: isOwn && request.headers !== undefined })
    }
    url = urlOf(answer.headers.location, what, url)
  }
  throw new FetchFailure('none', `The ${what} is behind more than ${redirectsMax} redirects.`)
}

/** @throws FetchFailure */
function urlOf(text: string | undefined, what: string, base?: URL): URL {
  const url = text !== undefined && URL.canParse(text, base) ? new URL(text, base) : null
  if (url?.protocol === 'https:' || url?.protocol === 'http:') return url
  throw new FetchFailure('none', `The address of the ${what} is not a web address.`)
}

type Connection = DownloadOptions &
  Record<'headers', Record<string, string> | undefined> & { body: string | undefined }

/** Sends the request. `close` ends it at any time. */
function connect(url: URL, who: string, { guard, signal, idleMs, headers, body }: Connection) {
  return new Promise<{ answer: IncomingMessage; close: () => void }>((resolve, reject) => {
    const fail = (problem: string) => reject(new FetchFailure('day', `${who}: ${problem}.`))
    const problem = guard.literalProblem(url)
    if (problem !== null) return reject(refusal(problem))
    const request = (url.protocol === 'https:' ? httpsRequest : httpRequest)(url, {
      agent: false,
      method: body === undefined ? 'GET' : 'POST',
      lookup: guard.lookup(url.protocol),
      headers: { 'user-agent': 'Callbook', 'accept-encoding': 'identity', ...headers },
    })
    const close = () => {
      signal.removeEventListener('abort', close)
      request.destroy()
    }
    signal.addEventListener('abort', close)
    const timer = setTimeout(() => {
      fail(`No answer within ${idleMs / 1_000} s`)
      close()
    }, idleMs)
    let interimAnswers = 0
    request.on('information', () => {
      if (++interimAnswers > interimAnswersMax) close()
    })
    request.on('response', (answer) => {
      clearTimeout(timer)
      // One that is closed unread.
      answer.on('error', () => undefined)
      resolve({ answer, close })
    })
    request.on('error', (error) => {
      if ('code' in error && error.code === 'EREFUSEDADDRESS') reject(refusal(error.message))
      else fail(connectionProblem(error))
    })
    request.on('close', () => {
      clearTimeout(timer)
      fail('The connection was closed')
    })
    request.end(body)
  })
}

function refusal(problem: string): FetchFailure {
  return new FetchFailure('none', `${problem}, so nothing is fetched from it.`)
}

interface AnswerParts {
  who: string
  what: string
  close: () => void
  idleMs: number
}

function answerOf(answer: IncomingMessage, { who, what, close, idleMs }: AnswerParts): Answer {
  const length = answer.headers['content-length']
  const bytes = length === undefined ? null : Number(length)
  const isJson = /^application\/(\w+\+)?json\b/i.test(answer.headers['content-type'] ?? '')
  return { who, isJson, bytes, parts: partsOf(answer, bytes, { who, what, close, idleMs }), close }
}

async function* partsOf(
  answer: IncomingMessage,
  bytes: number | null,
  { who, what, close, idleMs }: AnswerParts,
): AsyncGenerator<Uint8Array> {
  const parts = answer[Symbol.asyncIterator]()
  const brokenOff = () => new FetchFailure('day', `${who} broke off before the ${what} was whole.`)
  let byteCount = 0
  try {
    for (;;) {
      // Only while a part is awaited: its reader may take its time.
      const timer = setTimeout(close, idleMs)
      const { done, value } = await parts.next().finally(() => clearTimeout(timer))
      if (done) break
      byteCount += value.byteLength
      yield value
    }
  } catch {
    throw brokenOff()
  } finally {
    close()
  }
  if (bytes !== null && byteCount !== bytes) throw brokenOff()
}
