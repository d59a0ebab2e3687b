import { serveLoad } from './load-process.ts'
import type { PacedLoad, PacedResult } from './paced.ts'

// Sends requests at a fixed rate, without waiting for earlier answers.

const tickMs = 1
const waitingMax = 2_000

await serveLoad(async (load: PacedLoad, isEnding): Promise<PacedResult> => {
  const latenciesMs: number[] = []
  let failed = 0
  let waiting = 0
  const sendOne = async (index: number) => {
    waiting++
    const sentAt = performance.now()
    try {
      if (!(await send(load, index))) failed++
      latenciesMs.push(Math.round((performance.now() - sentAt) * 1_000) / 1_000)
    } catch {
      // Reported with the latencies.
      failed++
    }
    waiting--
  }
  const startedAt = performance.now()
  const endAt = startedAt + load.secondsMax * 1_000
  const count = load.requests.length * load.repeats
  for (let sent = 0; !isEnding() && performance.now() < endAt && sent < count; ) {
    const due = Math.floor(((performance.now() - startedAt) * load.requestsPerSecond) / 1_000)
    for (; sent < due && sent < count; sent++) {
      if (waiting < waitingMax) void sendOne(sent)
      else failed++
    }
    await new Promise((resolve) => setTimeout(resolve, tickMs))
  }
  while (waiting > 0) await new Promise((resolve) => setTimeout(resolve, tickMs))
  return { latenciesMs, failed }
})

/** Resolves at the answer's last byte, to whether the request succeeded. */
async function send({ url, requests, ...load }: PacedLoad, index: number): Promise<boolean> {
  const { method = 'GET', path = '/', key = load.key, body = null } = requests[index % requests.length] ?? {}
  const headers = { authorization: `Bearer ${key}`, ...(body ? { 'content-type': 'application/json' } : {}) }
  const response = await fetch(url + path, { method, headers, body })
  await response.arrayBuffer()
  return response.ok
}
