import { type Agent, Agent as HttpAgent, request as httpRequest } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import { connectionProblem } from '../text/connection-problem.ts'
import type { Addresses } from './addresses.ts'

const answerBytesMax = 65_536
/** How much of the answer to a failed request is kept. */
const answerKeptBytesMax = 2_048
/** An endpoint that sends 1xx answers without end would keep the main thread busy until the timeout. */
const interimAnswersMax = 20

/** An idle connection is closed earlier than most servers close it: Node's own after five seconds. */
const idleMs = 4_000
const keepAlive = { keepAlive: true, timeout: idleMs }
const timeoutMsDefault = 15_000

interface PosterOptions {
  addresses: Addresses
  timeoutMs?: number | undefined
}

interface Post {
  body: string
  headers: Record<string, string>
  /** Aborts the request. */
  signal: AbortSignal
}

/** How a request ended: with a status, or with an error. */
export interface PostResult {
  status: number | null
  error: string | null
  durationMs: number
  /** How the answer begins; null for a success, and without one. */
  answer: string | null
}

/** Whether the status is 2xx. A redirect is a failure. */
export function isSuccess({ status }: Pick<PostResult, 'status'>): boolean {
  return status !== null && status >= 200 && status < 300
}

/**
 * Posts over connections that are kept for the next requests. The address of each new one is checked. Ignores redirects
 * and the environment's proxies, and reads at most 64 KiB of an answer.
 */
export class Poster {
  readonly #addresses: Addresses
  readonly #timeoutMs: number
  readonly #agents = { 'http:': new HttpAgent(keepAlive), 'https:': new HttpsAgent(keepAlive) }

  constructor({ addresses, timeoutMs = timeoutMsDefault }: PosterOptions) {
    this.#addresses = addresses
    this.#timeoutMs = timeoutMs
  }

  async post(url: URL, post: Post): Promise<PostResult> {
    const startedAt = performance.now()
    const ended = ({ status, error, answer }: Omit<PostResult, 'durationMs'>): PostResult => ({
      status,
      error,
      durationMs: Math.round(performance.now() - startedAt),
      answer,
    })
    const problem = this.#addresses.literalProblem(url)
    if (problem !== null) return ended({ status: null, error: problem, answer: null })
    const { wasKept, ...first } = await this.#send(url, post, this.#agents[protocolOf(url)])
    // The other side may have closed the kept connection just as the request was sent.
    if (first.status !== null || !wasKept || post.signal.aborted) return ended(first)
    return ended(await this.#send(url, post, false))
  }

  /** Closes the connections. */
  close(): void {
    for (const agent of Object.values(this.#agents)) agent.destroy()
  }

  /** `wasKept` tells that a connection that earlier requests had used has ended without an answer. */
  #send(url: URL, { body, headers, signal }: Post, agent: Agent | false) {
    return new Promise<Omit<PostResult, 'durationMs'> & { wasKept: boolean }>((resolve) => {
      const request = (url.protocol === 'https:' ? httpsRequest : httpRequest)(url, {
        method: 'POST',
        agent,
        lookup: this.#addresses.lookup(url.protocol),
        headers: {
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(body),
          'user-agent': 'Callbook',
          ...headers,
        },
      })
      let status: number | null = null
      let interimAnswers = 0
      const parts: Uint8Array[] = []
      const end = (error: string | null, { isOver = false, wasKept = false } = {}) => {
        clearTimeout(timer)
        signal.removeEventListener('abort', abort)
        if (!isOver) request.destroy()
        resolve({
          status,
          error: status === null ? error : null,
          answer: beginningOf(status, parts),
          wasKept,
        })
      }
      const timer = setTimeout(() => end(`No answer within ${this.#timeoutMs / 1_000} s`), this.#timeoutMs)
      const abort = () => end('The request was aborted')
      signal.addEventListener('abort', abort)
      request.on('error', (error) => end(connectionProblem(error), { wasKept: request.reusedSocket }))
      request.on('close', () => end('The connection was closed', { wasKept: request.reusedSocket }))
      request.on('information', () => {
        if (++interimAnswers > interimAnswersMax) end(`More than ${interimAnswersMax} answers of 1xx`)
      })
      request.on('response', (answer) => {
        status = answer.statusCode ?? null
        let bytes = 0
        answer.on('data', (part: Uint8Array) => {
          if (bytes < answerKeptBytesMax) parts.push(part.subarray(0, answerKeptBytesMax - bytes))
          bytes += part.byteLength
          if (bytes > answerBytesMax) end(null)
        })
        answer.on('end', () => end(null, { isOver: true }))
        answer.on('error', () => end(null))
      })
      request.end(body)
    })
  }
}

/** Returns text, whatever the bytes are. */
function beginningOf(status: number | null, parts: readonly Uint8Array[]): string | null {
  if (isSuccess({ status }) || parts.length === 0) return null
  return new TextDecoder().decode(Buffer.concat(parts)).replaceAll('\0', '\uFFFD')
}

function protocolOf({ protocol }: URL): 'http:' | 'https:' {
  return protocol === 'https:' ? 'https:' : 'http:'
}
