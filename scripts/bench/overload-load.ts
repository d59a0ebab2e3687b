import { connect, type Socket } from 'node:net'
import { serveLoad } from './load-process.ts'

// Offers requests at a fixed rate over many connections. A request that is due while every connection is busy counts
// as offered, too: it waits for the next free connection.

export interface OverloadLoad {
  url: string
  key: string
  method: string
  path: string
  body: string | null
  connections: number
  /** Null sends each request as soon as the previous one is answered. */
  perSecond: number | null
  seconds: number
}

export interface OverloadResult {
  connections: number
  offered: number
  served: number
  refused: number
  failed: number
  p99Ms: number
}

interface Counts {
  sent: number
  served: number
  refused: number
  failed: number
  latenciesMs: number[]
}

await serveLoad(async (load: OverloadLoad): Promise<OverloadResult> => {
  const counts: Counts = { sent: 0, served: 0, refused: 0, failed: 0, latenciesMs: [] }
  const endsAt = performance.now() + load.seconds * 1_000
  await Promise.all(Array.from({ length: load.connections }, () => useConnection(load, counts, endsAt)))
  const sorted = counts.latenciesMs.sort((a, b) => a - b)
  return {
    connections: load.connections,
    offered: Math.max(counts.sent, Math.round((load.perSecond ?? 0) * load.seconds)),
    served: counts.served,
    refused: counts.refused,
    failed: counts.failed,
    p99Ms: Math.round((sorted[Math.ceil(sorted.length * 0.99) - 1] ?? 0) * 10) / 10,
  }
})

/** Sends one request at a time. */
async function useConnection(load: OverloadLoad, counts: Counts, endsAt: number): Promise<void> {
  const { port, hostname } = new URL(load.url)
  const socket = connect(Number(port), hostname)
  // An error is followed by 'close', which ends the current request.
  socket.on('error', () => undefined)
  try {
    await new Promise((resolve, reject) => {
      socket.once('connect', resolve)
      socket.once('close', reject)
    })
    while (performance.now() < endsAt) {
      const sentAt = performance.now()
      const status = await ask(socket, load, counts.sent++)
      if (performance.now() > endsAt) break
      if (status === 503) counts.refused++
      else if (status < 300) {
        counts.served++
        counts.latenciesMs.push(performance.now() - sentAt)
      } else counts.failed++
    }
  } catch {
    counts.failed++
  }
  socket.destroy()
}

function ask(socket: Socket, load: OverloadLoad, number: number): Promise<number> {
  const n = String(number)
  const body = load.body?.replaceAll('#', n) ?? ''
  const head = [
    `${load.method} ${load.path.replace('#', n)} HTTP/1.1`,
    'Host: localhost',
    `Authorization: Bearer ${load.key}`,
    ...(load.body === null
      ? []
      : ['Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`]),
  ]
  return new Promise((resolve, reject) => {
    let received = ''
    const read = (part: Buffer) => {
      received += part.toString('latin1')
      const end = received.indexOf('\r\n\r\n')
      if (end < 0) return
      const length = Number(/^content-length: (\d+)/im.exec(received)?.[1] ?? 0)
      if (received.length < end + 4 + length) return
      settle()
      resolve(Number(received.slice(9, 12)))
    }
    const fail = () => {
      settle()
      reject(new Error('The connection was closed'))
    }
    const settle = () => {
      socket.off('data', read)
      socket.off('close', fail)
    }
    socket.on('data', read)
    socket.once('close', fail)
    socket.write(`${head.join('\r\n')}\r\n\r\n${body}`)
  })
}
