import { json } from 'node:stream/consumers'
import { type Load, type LoadRequest, type LoadResult, percentile } from './load.ts'

// Applies the load on standard input, and prints the result. It uses plain sockets: `fetch` would use more of the
// machine than the server that is measured.

/** After the end of the load, for the last answers. */
const answersWithinSeconds = 30

const load = (await json(process.stdin)) as Load
const counts = { sent: 0, served: 0, refused: 0, failed: 0 }
const latenciesMs: number[] = []
let bytes = 0
const messages = load.requests.map(messageOf)
const startedAt = performance.now()
await Promise.all(Array.from({ length: load.connections }, useConnection))
const seconds = (performance.now() - startedAt) / 1_000
latenciesMs.sort((a, b) => a - b)
const result: LoadResult = {
  ...counts,
  perSecond: counts.served / seconds,
  bytesEach: bytes / counts.served,
  p50Ms: percentile(latenciesMs, 0.5),
  p99Ms: percentile(latenciesMs, 0.99),
  maxMs: percentile(latenciesMs, 1),
}
process.stdout.write(JSON.stringify(result))

function messageOf({ method = 'GET', path, body = '', key = load.key }: LoadRequest) {
  const isConsole = load.cookie !== undefined && path.startsWith('/console')
  const who = isConsole ? `cookie: ${load.cookie}` : `authorization: Bearer ${key}`
  const head = `host: ${new URL(load.url).host}\r\n${who}\r\n`
  const build = (number: string) => {
    const numbered = body.replaceAll('{n}', number)
    const entity =
      body && `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(numbered)}\r\n`
    const target = path.replaceAll('{n}', number)
    return Buffer.from(`${method} ${target} HTTP/1.1\r\n${head}${entity}\r\n${numbered}`)
  }
  if (`${path}${body}`.includes('{n}')) return (number: number) => build(String(number))
  const built = build('')
  return () => built
}

/** The next request and when it is due; null when there are no more. */
function next(): { message: Buffer; dueAt: number } | null {
  const number = counts.sent
  const now = performance.now()
  const dueAt = load.perSecond === undefined ? now : startedAt + (number * 1_000) / load.perSecond
  if (number >= (load.count ?? Number.POSITIVE_INFINITY) || dueAt >= startedAt + load.seconds * 1_000)
    return null
  const message = messages[number % messages.length]?.(number)
  if (!message) return null
  counts.sent++
  return { message, dueAt }
}

/** Sends one request at a time, until there are no more. */
function useConnection(): Promise<void> {
  const { hostname, port } = new URL(load.url)
  let unsent: Buffer = Buffer.alloc(0)
  let dueAt = 0
  let answer = new Answer()
  let isDone = false
  return new Promise((resolve) => {
    const write = (socket: Bun.Socket, message: Buffer) => {
      unsent = message.subarray(socket.write(message))
      socket.timeout(answersWithinSeconds)
    }
    const sendNext = (socket: Bun.Socket) => {
      const request = next()
      if (request === null) {
        isDone = true
        socket.end()
        return
      }
      // Counted from when it was due, so that a slow server does not slow down what is expected of it.
      dueAt = request.dueAt
      const waitMs = dueAt - performance.now()
      if (waitMs > 0) setTimeout(() => write(socket, request.message), waitMs)
      else write(socket, request.message)
    }
    Bun.connect({
      hostname,
      port: Number(port),
      socket: {
        open: sendNext,
        drain: (socket) => {
          unsent = unsent.subarray(socket.write(unsent))
        },
        data: (socket, part) => {
          if (!answer.add(part)) return
          if (answer.status === 503) counts.refused++
          else if (answer.status >= 200 && answer.status < 300) {
            counts.served++
            bytes += answer.bytes
            latenciesMs.push(performance.now() - dueAt)
          } else counts.failed++
          answer = new Answer()
          sendNext(socket)
        },
        close: () => {
          if (!isDone) counts.failed++
          resolve()
        },
        timeout: (socket) => socket.terminate(),
      },
    }).catch(() => {
      counts.failed++
      resolve()
    })
  })
}

/** An answer as it arrives. Only its length is looked at. */
class Answer {
  status = 0
  /** Of the body so far. */
  bytes = 0
  #head = ''
  #tail = ''
  #length: number | 'chunked' = 0

  /** Returns whether the answer is complete. */
  add(part: Buffer): boolean {
    if (this.status > 0) return this.#addBody(part)
    this.#head += part.toString('latin1')
    const end = this.#head.indexOf('\r\n\r\n')
    if (end < 0) return false
    const head = this.#head.slice(0, end)
    this.status = Number(head.slice(9, 12))
    const length = /^content-length: *(\d+)/im.exec(head)?.[1]
    this.#length = length ? Number(length) : /^transfer-encoding: *chunked/im.test(head) ? 'chunked' : 0
    const body = Buffer.from(this.#head.slice(end + 4), 'latin1')
    return this.#addBody(body)
  }

  #addBody(part: Buffer): boolean {
    this.bytes += part.length
    if (this.#length !== 'chunked') return this.bytes >= this.#length
    // JSON has no line breaks of its own, so this ends the last chunk.
    this.#tail = (this.#tail + part.toString('latin1', Math.max(0, part.length - 5))).slice(-5)
    return this.#tail === '0\r\n\r\n'
  }
}
