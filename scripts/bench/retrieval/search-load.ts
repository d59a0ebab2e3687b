import { serveLoad } from '../load-process.ts'
import type { SearchLoad, SearchResult } from './searching.ts'
import { readServerTiming } from './server-timing.ts'

// A closed loop: each connection sends its next search when the previous one is answered.

const warmUpMsMax = 5_000

await serveLoad(async (load: SearchLoad, isEnding): Promise<SearchResult> => {
  const result: SearchResult = { latenciesMs: [], failed: 0, modes: {}, timings: {}, answers: [] }
  const warmUntil = performance.now() + warmUpMsMax
  await forEach(load, load.warmUp, async (body) => {
    if (performance.now() < warmUntil) await send(load, body)
  })
  const endAt = performance.now() + load.secondsMax * 1_000
  const isOver = () => isEnding() || performance.now() > endAt
  const measure = async (body: string, index: number) => {
    if (isOver()) return
    const sentAt = performance.now()
    try {
      const { response, text } = await send(load, body)
      result.latenciesMs.push(Math.round((performance.now() - sentAt) * 1_000) / 1_000)
      if (!response.ok) result.failed++
      else if (load.keepsAnswers) result.answers[index] = note(result, response, text)
      else note(result, response, text)
    } catch {
      // Reported with the latencies.
      result.failed++
    }
  }
  do for (const round of load.rounds) await forEach(load, round, measure)
  while (load.repeats && !isOver())
  return result
})

async function forEach(
  { concurrency }: SearchLoad,
  searches: SearchLoad['warmUp'],
  ask: (body: string, index: number) => Promise<void>,
): Promise<void> {
  let next = 0
  const askInTurn = async () => {
    for (let index = next++; index < searches.length; index = next++)
      await ask(JSON.stringify(searches[index]), index)
  }
  await Promise.all(Array.from({ length: concurrency }, askInTurn))
}

/** Resolves at the answer's last byte. */
async function send({ url, key }: SearchLoad, body: string): Promise<{ response: Response; text: string }> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const response = await fetch(`${url}/v1/knowledge/search`, { method: 'POST', headers, body })
  return { response, text: await response.text() }
}

/** Counts the mode and the timings of an answer. Returns its hits. */
function note(result: SearchResult, response: Response, text: string): SearchResult['answers'][number] {
  const { data, mode }: { data: SearchResult['answers'][number]; mode: string } = JSON.parse(text)
  result.modes[mode] = (result.modes[mode] ?? 0) + 1
  for (const [name, ms] of Object.entries(readServerTiming(response.headers.get('server-timing')))) {
    const times = result.timings[name] ?? []
    times.push(ms)
    result.timings[name] = times
  }
  return data
}
