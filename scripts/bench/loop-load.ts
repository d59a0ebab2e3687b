import type { Load, LoadRequest, LoadResult } from './load.ts'
import { serveLoad } from './load-process.ts'

// Sends requests over plain sockets: `fetch` would use more of the machine than the server that is measured.

/** After the end of the load, for the last answers. */
const answersWithinMs = 30_000

interface Counts {
  sent: number
  served: number
  refused: number
  failed: number
  bytes: number
  latenciesMs: number[]
}

await serveLoad(async (load: Load, isEnding): Promise<LoadResult> => {
  const counts: Counts = { sent: 0, served: 0, refused: 0, failed: 0, bytes: 0, latenciesMs: [] }
  const messages = load.requests.map((request) => messageOf(load, request))
  const startedAt = performance.now()
  const endsAt = startedAt + load.seconds * 1_000
  const next = () => {
    const isOver = counts.sent >= (load.count ?? Number.POSITIVE_INFINITY)
    if (isOver || isEnding() || performance.now() >= endsAt) return null
    const number = counts.sent++
    return messages[number % messages.length]?.(number) ?? null
  }
  await Promise.all(Array.from({ length: load.connections }, () => useConnection(load, next, counts)))
  const seconds = (performance.now() - startedAt) / 1_000
  const { latenciesMs, bytes, ...counted } = counts
  const sorted = latenciesMs.sort((a, b) => a - b)
  const at = (share: number) => sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN
  return {
    ...counted,
    seconds,
    perSecond: counted.served / seconds,
    bytesEach: bytes / counted.served,
    p50Ms: at(0.5),
    p99Ms: at(0.99),
  }
})

function messageOf(load: Load, { method = 'GET', path, body = '', key = load.key }: LoadRequest) {
  const head = `host: ${new URL(load.url).host}\r\nauthorization: Bearer ${key}\r\n`
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

/** Sends one request at a time, until there are no more. */
function useConnection({ url }: Load, next: () => Buffer | null, counts: Counts): Promise<void> {
  const { hostname, port } = new URL(url)
  let unsent: Buffer = Buffer.alloc(0)
  let sentAt = 0
  let answer = new Answer()
  let isDone = false
  return new Promise((resolve) => {
    const send = (socket: Bun.Socket) => {
      const message = next()
      if (message === null) {
        isDone = true
        socket.end()
        return
      }
      sentAt = performance.now()
      unsent = message.subarray(socket.write(message))
      socket.timeout(answersWithinMs / 1_000)
    }
    Bun.connect({
      hostname,
      port: Number(port),
      socket: {
        open: send,
        drain: (socket) => {
          unsent = unsent.subarray(socket.write(unsent))
        },
        data: (socket, part) => {
          if (!answer.add(part)) return
          if (answer.status === 503) counts.refused++
          else if (answer.status >= 200 && answer.status < 300) {
            counts.served++
            counts.bytes += answer.bytes
            counts.latenciesMs.push(performance.now() - sentAt)
          } else counts.failed++
          answer = new Answer()
          send(socket)
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
