import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { copyDataset } from '../dataset.ts'
import { processOf } from '../process-use.ts'
import { type Running, startProgram } from '../processes.ts'
import { repository } from '../repository.ts'
import { type Row, row } from './figures.ts'
import { type LoadResult, runLoad } from './load.ts'
import { callsDataset } from './made-calls.ts'
import type { Options } from './runner.ts'

const calls = 10_000
const delayMs = 50
const atOnce = 8
const shareMin = 0.95
const timesMax = 1.3
const load = { puts: 50, gets: 200 }
const idleSeconds = 20
const seconds = 55
const pollMs = 100

const rubric = {
  summary: { instructions: '' },
  criteria: [
    { id: 'greeted', name: 'Greeted', question: 'Did the agent greet the caller?' },
    { id: 'confirmed', name: 'Confirmed', question: 'Did the agent confirm what was agreed?' },
  ],
}

/** Analyzing the past by a model that needs the same time for each call, and what others notice of it. */
export async function benchAnalyses({ start, texts }: Options): Promise<Row[]> {
  const program = join(repository, 'scripts/bench/peers/chat-model.ts')
  const model = await startProgram(process.execPath, [program, String(delayMs)], { address: /(http\S+)/ })
  try {
    const { folder, key, ingestKey } = copyDataset(await callsDataset({ texts }, calls))
    const service = await start(folder, {
      ANALYSIS_MODEL: 'bench',
      ANALYSIS_ENDPOINT: model.url,
      ANALYSIS_CONCURRENCY: String(atOnce),
      // What others write meanwhile is not analyzed.
      ANALYSIS_DELAY_SECONDS: '86400',
    })
    const send = async (method: string, path: string, body?: object) => {
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
      const answer = await fetch(service.url + path, {
        method,
        headers,
        ...(body && { body: JSON.stringify(body) }),
      })
      if (!answer.ok) throw new Error(`${method} ${path} was answered ${answer.status}`)
      return await answer.json()
    }
    await send('PUT', '/v1/rubric', rubric)
    const idle = await loadOf(service, { key, ingestKey, name: 'idle', seconds: idleSeconds })
    const before = { service: secondsOf(service), model: secondsOf(model) }
    const startedAt = performance.now()
    const { id } = await send('POST', '/v1/analyses', { filters: { to: '2099-01-01' } })
    const busy = loadOf(service, { key, ingestKey, name: 'busy', seconds })
    for (;;) {
      const run = await send('GET', `/v1/analyses/${id}`)
      if (run.state !== 'running') break
      await sleep(pollMs)
    }
    const took = (performance.now() - startedAt) / 1_000
    const used = (name: 'service' | 'model', running: Running) =>
      ((100 * (secondsOf(running) - before[name])) / took).toFixed(0)
    const shares = `${used('service', service)} % of a core, the model's server ${used('model', model)} %`
    const { done, calls: counted } = await send('GET', `/v1/analyses/${id}`)
    const [rate, ceiling] = [counted / took, (atOnce * 1_000) / delayMs]
    const { puts, gets } = await busy
    return [
      row(
        `analyses a second, ${counted} calls, ${atOnce} at once, ${delayMs} ms an answer`,
        `${((100 * rate) / ceiling).toFixed(0)} %: ${rate.toFixed(1)} of ${ceiling} (${done} done), ${shares}`,
        `≥ ${100 * shareMin} % of the model's own`,
        rate >= shareMin * ceiling,
      ),
      compared(`p99 of ${load.puts} PUT a second meanwhile`, puts, idle.puts),
      compared(`p99 of ${load.gets} GET a second meanwhile`, gets, idle.gets),
    ]
  } finally {
    await model.stop()
  }
}

function compared(what: string, busy: LoadResult, idle: LoadResult): Row {
  return row(
    what,
    `${(busy.p99Ms / idle.p99Ms).toFixed(2)} ×: ${busy.p99Ms.toFixed(1)} ms, idle ${idle.p99Ms.toFixed(1)} ms`,
    `≤ ${timesMax} × idle`,
    busy.p99Ms <= timesMax * idle.p99Ms,
  )
}

function secondsOf({ pid }: Running): number {
  return processOf(pid).processorSeconds
}

interface Loaded {
  key: string
  ingestKey: string
  name: string
  seconds: number
}

async function loadOf({ url }: Running, { key, ingestKey, name, seconds }: Loaded) {
  const turns = Array.from({ length: 20 }, (_, n) => ({
    role: n % 2 === 0 ? 'assistant' : 'user',
    content: `Turn ${n} of a call about an order.`,
  }))
  const body = JSON.stringify({ status: 'completed', duration: 60, transcript: turns })
  const put = { method: 'PUT', path: `/ingest/calls/${name}-{n}`, body }
  const [puts, gets] = await Promise.all([
    runLoad({ url, key: ingestKey, requests: [put], connections: 16, seconds, perSecond: load.puts }),
    runLoad({
      url,
      key,
      requests: [{ path: '/v1/calls?limit=20' }, { path: '/v1/calls?limit=5' }],
      connections: 16,
      seconds,
      perSecond: load.gets,
    }),
  ])
  return { puts, gets }
}
