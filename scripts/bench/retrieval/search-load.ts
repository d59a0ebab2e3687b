import { readFileSync, writeFileSync } from 'node:fs'
import type { SearchLoad, SearchResult } from './searching.ts'
import { readServerTiming } from './server-timing.ts'

// Asks in a closed loop: each connection sends its next search when the one before is answered. In a process of
// its own, so that nothing of the benchmark delays it. Ends early with standard input.

const warmUpMsMax = 5_000

const [loadFile = '', resultFile = ''] = process.argv.slice(2)
const load: SearchLoad = JSON.parse(readFileSync(loadFile, 'utf8'))
const headers = { authorization: `Bearer ${load.key}`, 'content-type': 'application/json' }
const result: SearchResult = { latenciesMs: [], failed: 0, modes: {}, timings: {}, answers: [] }
let isEnding = false
process.stdin.on('end', () => {
  isEnding = true
})
process.stdin.resume()

const warmUntil = performance.now() + warmUpMsMax
await forEach(load.warmUp, async (body) => {
  if (performance.now() < warmUntil) await send(body)
})
const endAt = performance.now() + load.secondsMax * 1_000
do for (const round of load.rounds) await forEach(round, measure)
while (load.repeats && !isOver())
writeFileSync(resultFile, JSON.stringify(result), { mode: 0o600 })
process.exit(0)

async function forEach(
  searches: SearchLoad['warmUp'],
  ask: (body: string, index: number) => Promise<void>,
): Promise<void> {
  let next = 0
  const askInTurn = async () => {
    for (let index = next++; index < searches.length; index = next++)
      await ask(JSON.stringify(searches[index]), index)
  }
  await Promise.all(Array.from({ length: load.concurrency }, askInTurn))
}

async function measure(body: string, index: number): Promise<void> {
  if (isOver()) return
  const sentAt = performance.now()
  try {
    const { response, text } = await send(body)
    result.latenciesMs.push(Math.round((performance.now() - sentAt) * 1_000) / 1_000)
    if (response.ok) note(response, text, index)
    else result.failed++
  } catch {
    // Counted, and shown beside the figures.
    result.failed++
  }
}

/** From the moment it is handed to the socket to the answer's last byte. */
async function send(body: string): Promise<{ response: Response; text: string }> {
  const response = await fetch(`${load.url}/v1/knowledge/search`, { method: 'POST', headers, body })
  return { response, text: await response.text() }
}

function note(response: Response, text: string, index: number): void {
  const { data, mode }: { data: SearchResult['answers'][number]; mode: string } = JSON.parse(text)
  result.modes[mode] = (result.modes[mode] ?? 0) + 1
  for (const [name, ms] of Object.entries(readServerTiming(response.headers.get('server-timing')))) {
    const times = result.timings[name] ?? []
    times.push(ms)
    result.timings[name] = times
  }
  if (load.keepsAnswers) result.answers[index] = data
}

function isOver(): boolean {
  return isEnding || performance.now() > endAt
}
