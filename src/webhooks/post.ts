import { type Agent, Agent as HttpAgent, request as httpRequest } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import { connectionProblem } from '../text/connection-problem.ts'
import type { Addresses } from './addresses.ts'

const answerBytesMax = 65_536
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
interface PostResult {
  status: number | null
  error: string | null
  durationMs: number
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
    const ended = (status: number | null, error: string | null): PostResult => ({
      status,
      error,
      durationMs: Math.round(performance.now() - startedAt),
    })
    const problem = this.#addresses.literalProblem(url)
    if (problem !== null) return ended(null, problem)
    const { status, error, wasKept } = await this.#send(url, post, this.#agents[protocolOf(url)])
    // The other side may have closed the kept connection just as the request was sent.
    if (status !== null || !wasKept || post.signal.aborted) return ended(status, error)
    const again = await this.#send(url, post, false)
    return ended(again.status, again.error)
  }

  /** Closes the connections. */
  close(): void {
    for (const agent of Object.values(this.#agents)) agent.destroy()
  }

  /** `wasKept` tells that a connection that earlier requests had used has ended without an answer. */
  #send(url: URL, { body, headers, signal }: Post, agent: Agent | false) {
    return new Promise<{ status: number | null; error: string | null; wasKept: boolean }>((resolve) => {
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
      const end = (error: string | null, { isOver = false, wasKept = false } = {}) => {
        clearTimeout(timer)
        signal.removeEventListener('abort', abort)
        if (!isOver) request.destroy()
        resolve({ status, error: status === null ? error : null, wasKept })
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

function protocolOf({ protocol }: URL): 'http:' | 'https:' {
  return protocol === 'https:' ? 'https:' : 'http:'
}
