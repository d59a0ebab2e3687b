import { setTimeout as sleep } from 'node:timers/promises'
import { copyDataset } from '../dataset.ts'
import { startEndpoint } from '../endpoint.ts'
import { processOf } from '../process-use.ts'
import { ask } from '../requests.ts'
import { type Row, row } from './figures.ts'
import { type LoadResult, runLoad } from './load.ts'
import { callsDataset } from './made-calls.ts'
import type { Options } from './runner.ts'

const calls = 10_000
const delayMs = 50
const atOnce = 8
const shareMin = 0.95
const timesMax = 1.3
const seconds = { idle: 20, busy: 55 }
const pollMs = 100

const rubric = {
  summary: { instructions: '' },
  criteria: [
    { id: 'greeted', name: 'Greeted', question: 'Did the agent greet the caller?' },
    { id: 'confirmed', name: 'Confirmed', question: 'Did the agent confirm what was agreed?' },
  ],
}
const judged = { turns: [0], quote: '', rationale: 'It was not said.', result: 'unknown' }
const content = JSON.stringify({ summary: 'A call.', criteria: { greeted: judged, confirmed: judged } })
/** The model's answer to every request. */
const completion = JSON.stringify({
  choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 2_000, completion_tokens: 60 },
})
const transcript = Array.from({ length: 20 }, (_, n) => ({
  role: n % 2 === 0 ? 'assistant' : 'user',
  content: `Turn ${n} of a call about an order.`,
}))

/** Analyzing the past by a model that needs the same time for each call, and what others notice of it. */
export async function benchAnalyses({ start, texts }: Options): Promise<Row[]> {
  const model = await startEndpoint((_body, _request, response) => {
    setTimeout(() => response.writeHead(200, { 'content-type': 'application/json' }).end(completion), delayMs)
  })
  try {
    const { folder, key, ingestKey } = copyDataset(await callsDataset({ texts }, calls))
    const { url, pid } = await start(folder, {
      ANALYSIS_MODEL: 'bench',
      ANALYSIS_ENDPOINT: model.url,
      ANALYSIS_CONCURRENCY: String(atOnce),
      // What others write meanwhile is not analyzed.
      ANALYSIS_DELAY_SECONDS: '86400',
    })
    const loadOf = async (name: 'idle' | 'busy') => {
      const body = JSON.stringify({ status: 'completed', duration: 60, transcript })
      const put = { method: 'PUT', path: `/ingest/calls/${name}-{n}`, body, key: ingestKey }
      const load = { url, key, connections: 16, seconds: seconds[name] }
      const pages = [{ path: '/v1/calls?limit=20' }, { path: '/v1/calls?limit=5' }]
      return await Promise.all([
        runLoad({ ...load, requests: [put], perSecond: 50 }),
        runLoad({ ...load, requests: pages, perSecond: 200 }),
      ])
    }
    await ask(url, { method: 'PUT', path: '/v1/rubric', key, body: rubric })
    const [idlePuts, idleGets] = await loadOf('idle')
    const [startedAt, before] = [performance.now(), processOf(pid).processorSeconds]
    const body = { filters: { to: '2099-01-01' } }
    const { id } = await ask<{ id: string }>(url, { path: '/v1/analyses', key, body })
    const busy = loadOf('busy')
    const runOf = () => ask<{ state: string; done: number }>(url, { path: `/v1/analyses/${id}`, key })
    while ((await runOf()).state === 'running') await sleep(pollMs)
    const took = (performance.now() - startedAt) / 1_000
    const used = (100 * (processOf(pid).processorSeconds - before)) / took
    const rate = (await runOf()).done / took
    const ceiling = (atOnce * 1_000) / delayMs
    const [puts, gets] = await busy
    return [
      row(
        `analyses a second, ${atOnce} at once, ${delayMs} ms an answer`,
        `${((100 * rate) / ceiling).toFixed(0)} %: ${rate.toFixed(1)} of ${ceiling}, ${used.toFixed(0)} % of a core`,
        `≥ ${100 * shareMin} % of the model's own`,
        rate >= shareMin * ceiling,
      ),
      compared('p99 of 50 PUT a second meanwhile', puts, idlePuts),
      compared('p99 of 200 GET a second meanwhile', gets, idleGets),
    ]
  } finally {
    model.close()
  }
}

function compared(what: string, busy: LoadResult, idle: LoadResult): Row {
  const measured = `${(busy.p99Ms / idle.p99Ms).toFixed(2)} ×: ${busy.p99Ms.toFixed(1)} ms, idle ${idle.p99Ms.toFixed(1)} ms`
  return row(what, measured, `≤ ${timesMax} × idle`, busy.p99Ms <= timesMax * idle.p99Ms)
}
