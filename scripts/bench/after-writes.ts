import { setTimeout as sleep } from 'node:timers/promises'
import { cachedFolder, copyDataset, type Dataset } from '../dataset.ts'
import { processOf } from '../process-use.ts'
import { ask, send } from '../requests.ts'
import { formatCount, type Row, row } from './figures.ts'
import { median, runLoad } from './load.ts'
import { fillWithCalls } from './many-calls.ts'
import { cardsOf, filteredPage, filters, inConsole, periods } from './questions.ts'
import type { Options } from './runner.ts'
import { signIn } from './sessions.ts'

// What is asked of a project with many calls where each answer follows a write, so that nothing is kept from before; and
// how long others wait meanwhile.

const repeats = 10
const settleMs = 200
/** Long enough for the repeats; what is left of it is not waited for by others. */
const besideSeconds = 20
const rulesCount = 50
const minuteMs = 60_000
const minutes = 3
const turnsBefore = 200

interface Bench {
  dataset: Dataset
  project: string
  cookie: string
  url: string
  pid: number
}

interface Asked {
  what: string
  /** Asked at once. */
  paths: readonly string[]
}

const overview: Asked[] = periods.map((period) => ({
  what: `${period.days} days: all cards`,
  paths: Object.values(cardsOf(period)).flat().map(inConsole),
}))
const list: Asked[] = [
  ...filters.map((query) => ({
    what: `page of 100: ${query || 'all'}`,
    paths: [`/v1/calls?limit=100&${query}`],
  })),
  { what: 'page of 1,000', paths: ['/v1/calls?limit=1000'] },
]

/** The cases, by their names. */
export const afterWrites = {
  overview: (options: Options) => benchAsked(overview, options),
  list: (options: Options) => benchAsked(list, options),
  append: benchAppend,
  alerts: benchAlerts,
} satisfies Record<string, (options: Options) => Promise<Row[]>>

async function open({ calls, start }: Options): Promise<Bench> {
  const dataset = copyDataset(await cachedFolder(`many-${calls}`, (folder) => fillWithCalls(folder, calls)))
  const { cookie, project, url, pid } = await signIn(dataset, start)
  return { dataset, cookie, project, url, pid }
}

async function benchAsked(asked: readonly Asked[], options: Options): Promise<Row[]> {
  const bench = await open(options)
  const { dataset, url, cookie, project } = bench
  const rows = await measureOthers(bench, 'alone')
  for (const { what, paths } of asked) {
    const get = async (path: string) => {
      const own: Record<string, string> = path.startsWith('/console')
        ? { cookie }
        : { authorization: `Bearer ${dataset.key}` }
      const answer = await fetch(url + path.replace(':project', project), {
        headers: { ...own, 'accept-encoding': 'identity' },
      })
      if (!answer.ok) throw new Error(`${path} is ${answer.status}`)
      await answer.arrayBuffer()
    }
    const askOnce = () => Promise.all(paths.map(get))
    const name = `${formatCount(options.calls)} calls, after a write, ${what}`
    rows.push(...(await measureBeside(bench, name, askOnce)))
  }
  return rows
}

/** What an append to a call of many turns takes, whose answer carries the call. */
async function benchAppend(options: Options): Promise<Row[]> {
  const bench = await open(options)
  const path = '/ingest/calls/appended'
  const key = bench.dataset.ingestKey
  const turns = (count: number) =>
    Array.from({ length: count }, (_, n) => ({ role: 'user', content: `Turn ${n} about an order.` }))
  await send(bench.url, { method: 'PUT', path, key, body: { transcript: turns(turnsBefore) } })
  let at = turnsBefore
  const append = () =>
    send(bench.url, { method: 'PUT', path, key, body: { appendTranscript: { at: at++, turns: turns(1) } } })
  return await measureBeside(
    bench,
    `${formatCount(options.calls)} calls, an append to ${turnsBefore} turns`,
    append,
  )
}

/** What a minute of rules takes that look at all calls of their windows. */
async function benchAlerts(options: Options): Promise<Row[]> {
  const { url, pid, dataset } = await open(options)
  const { key } = dataset
  for (let n = 0; n < rulesCount; n++)
    await ask(url, {
      method: 'POST',
      path: '/v1/alerts',
      key,
      body: {
        name: `Rule ${n}`,
        of: n % 2 === 0 ? 'calls' : 'success',
        show: n % 2 === 0 ? 'count' : 'share',
        filters: n % 5 === 0 ? {} : { agentId: `agent-${n}` },
        windowMinutes: 60,
        below: { alert: 0.5 },
        showOnly: true,
        to: [],
      },
    })
  // The first minute is that of the start, which indexes words.
  await sleep(minuteMs)
  const before = processOf(pid).processorSeconds
  for (let n = 0; n < minutes; n++) {
    await put({ dataset, url })
    await sleep(minuteMs)
  }
  const seconds = (processOf(pid).processorSeconds - before) / minutes
  return [
    row(
      `${formatCount(options.calls)} calls, a minute of ${rulesCount} alerts`,
      `${seconds.toFixed(2)} s of processor`,
      '≤ 2 s of processor',
      seconds <= 2,
    ),
  ]
}

/** Asks alone, then beside reads by id and filtered pages. */
async function measureBeside(bench: Bench, what: string, askOnce: () => Promise<unknown>): Promise<Row[]> {
  const { pid } = bench
  await askOnce()
  const ms: number[] = []
  for (let n = 0; n < repeats; n++) {
    await put(bench)
    await sleep(settleMs)
    const before = processOf(pid).processorSeconds
    await askOnce()
    await sleep(settleMs)
    ms.push((processOf(pid).processorSeconds - before) * 1_000)
  }
  const least = Math.min(...ms)
  const rows = [row(what, `${formatCount(median(ms))} ms of processor, least ${formatCount(least)}`)]
  const isOver = measureOthers(bench, 'meanwhile')
  let isAsking = true
  void isOver.finally(() => {
    isAsking = false
  })
  while (isAsking) {
    await put(bench)
    await askOnce()
  }
  return [...rows, ...(await isOver)]
}

/** How long reads by id and filtered pages take. */
async function measureOthers(bench: Bench, when: string): Promise<Row[]> {
  const { url, dataset } = bench
  const others = {
    'GET by id': { path: `/v1/calls/${await someId(bench)}`, perSecond: 50 },
    'a filtered page': { path: filteredPage, perSecond: 5 },
  }
  return await Promise.all(
    Object.entries(others).map(async ([name, { path, perSecond }]) => {
      const requests = [{ path }]
      const load = { url, key: dataset.key, requests, connections: 4, seconds: besideSeconds, perSecond }
      const { p50Ms, p99Ms } = await runLoad(load)
      return row(`  ${name} ${when}`, `p50 ${p50Ms.toFixed(1)}, p99 ${p99Ms.toFixed(1)} ms`)
    }),
  )
}

async function put({ dataset, url }: Pick<Bench, 'dataset' | 'url'>): Promise<void> {
  const path = `/ingest/calls/written-${crypto.randomUUID()}`
  await send(url, { method: 'PUT', path, key: dataset.ingestKey, body: { status: 'completed', duration: 5 } })
}

async function someId({ url, dataset }: Bench): Promise<string> {
  const { data } = await ask<{ data: { id: string }[] }>(url, { path: '/v1/calls?limit=1', key: dataset.key })
  return data[0]?.id ?? ''
}
