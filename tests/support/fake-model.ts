import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { atEnd } from './at-end.ts'

/** What a server does with one request instead of a normal answer, whatever its model is for. */
export interface ModelMisbehaviour {
  /** Wait before anything else. */
  delayMs?: number
  /** Close the connection without an answer, or in the middle of it; or send half of it and no more. */
  cut?: 'before' | 'middle' | 'stall'
  status?: number
  headers?: Record<string, string>
  /** Sent instead of an answer: a text as it is, anything else as JSON. */
  body?: unknown
  /** A page of a website, with status 200 unless another is given. */
  html?: boolean
}

export interface FakeModel<Recorded, Misbehaviour> {
  url: string
  requests: Recorded[]
  /** One for each of the next requests, in order; null means a normal answer. */
  next(...misbehaviours: (Misbehaviour | null)[]): void
  /** For all requests that `next` says nothing about, until called with null. */
  always(misbehaviour: Misbehaviour | null): void
  /** Requests being answered now, and the most there ever were at once. */
  atOnce: { now: number; max: number }
  /** A fetch that sends requests for any host to this server, as if it were the hosted service. */
  fetch: typeof fetch
  stop(): Promise<void>
}

export interface Reply {
  status: number
  headers: Record<string, string>
  body: string
}

interface Behaviour<Recorded, Misbehaviour> {
  record(request: IncomingMessage, body: string): Recorded
  /** Null if it has written the response itself. */
  reply(
    recorded: Recorded,
    misbehaviour: Partial<Misbehaviour>,
    response: ServerResponse,
  ): Reply | null | Promise<Reply>
  /** Of each request whose misbehaviour names no other. */
  delayMs?: number
  /** Whether to keep the requests; a benchmark need not. */
  isRecording?: boolean
}

/** An HTTP server on loopback in the place of one that runs a model. */
export async function startFakeModel<Recorded, Misbehaviour extends ModelMisbehaviour>({
  record,
  reply,
  delayMs: usualDelayMs = 0,
  isRecording = true,
}: Behaviour<Recorded, Misbehaviour>): Promise<FakeModel<Recorded, Misbehaviour>> {
  const requests: Recorded[] = []
  const queue: (Misbehaviour | null)[] = []
  const atOnce = { now: 0, max: 0 }
  let standing: Misbehaviour | null = null

  const server = createServer(async (request, response) => {
    atOnce.now++
    atOnce.max = Math.max(atOnce.max, atOnce.now)
    response.on('close', () => atOnce.now--)
    const recorded = record(request, await readBody(request))
    if (isRecording) requests.push(recorded)
    const misbehaviour: Partial<Misbehaviour> = (queue.length > 0 ? queue.shift() : standing) ?? {}
    const delayMs = misbehaviour.delayMs ?? usualDelayMs
    if (delayMs > 0) await new Promise((resolve) => setTimeout(resolve, delayMs))
    if (misbehaviour.cut === 'before') return void request.socket.destroy()
    const replied = await reply(recorded, misbehaviour, response)
    if (!replied) return
    const { status, headers, body } = replied
    response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) })
    if (!misbehaviour.cut) return void response.end(body)
    const half = body.slice(0, body.length / 2)
    response.write(half, () => misbehaviour.cut === 'middle' && request.socket.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  const rewriting = (input: RequestInfo | URL, init?: RequestInit) => {
    const { pathname, search } = new URL(input instanceof Request ? input.url : input)
    return fetch(url + pathname + search, init)
  }
  return {
    url,
    requests,
    atOnce,
    next: (...misbehaviours) => void queue.push(...misbehaviours),
    always(misbehaviour) {
      standing = misbehaviour
    },
    fetch: Object.assign(rewriting, { preconnect: fetch.preconnect }),
    stop: atEnd(async () => {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    }),
  }
}

async function readBody(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part as Buffer)
  return Buffer.concat(parts).toString('utf8')
}
