import { readFileSync } from 'node:fs'
import type { PacedLoad, PacedResult } from './paced.ts'

// Sends requests at a fixed rate, whether or not the ones before were answered, until standard input ends. In
// a process of its own, so that nothing of the benchmark delays it.

const tickMs = 1
const waitingMax = 2_000

const load: PacedLoad = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8'))
const latenciesMs: number[] = []
let failed = 0
let waiting = 0
let isEnding = false
process.stdin.on('end', () => {
  isEnding = true
})
process.stdin.resume()
await run()
const result: PacedResult = { latenciesMs: latenciesMs.map((ms) => Math.round(ms * 1_000) / 1_000), failed }
process.stdout.write(JSON.stringify(result))
process.exit(0)

async function run(): Promise<void> {
  const startedAt = performance.now()
  const endAt = startedAt + load.secondsMax * 1_000
  let sent = 0
  while (!isEnding && performance.now() < endAt && sent < load.requests.length * load.repeats) {
    const due = Math.floor(((performance.now() - startedAt) * load.requestsPerSecond) / 1_000)
    for (; sent < due && sent < load.requests.length * load.repeats; sent++) {
      if (waiting < waitingMax) void send(sent)
      else failed++
    }
    await new Promise((resolve) => setTimeout(resolve, tickMs))
  }
  while (waiting > 0) await new Promise((resolve) => setTimeout(resolve, tickMs))
}

/** From the moment it is handed to the socket to the answer's last byte. */
async function send(index: number): Promise<void> {
  const { method, path, body } = load.requests[index % load.requests.length] ?? { method: 'GET', path: '/' }
  const headers: Record<string, string> = { authorization: `Bearer ${load.key}` }
  if (body !== undefined) headers['content-type'] = 'application/json'
  waiting++
  const sentAt = performance.now()
  try {
    const response = await fetch(load.url + path, {
      method,
      headers,
      ...(body === undefined ? {} : { body }),
    })
    await response.arrayBuffer()
    if (!response.ok) failed++
    latenciesMs.push(performance.now() - sentAt)
  } catch {
    // Counted, and shown beside the figures.
    failed++
  }
  waiting--
}
