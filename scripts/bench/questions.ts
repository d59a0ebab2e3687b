import { copyDataset } from '../dataset.ts'
import { atMost, formatCount, type Row, row } from './figures.ts'
import { formatLatency, measure, runLoad } from './load.ts'
import { callsDataset, commonWord, rareWord } from './made-calls.ts'
import type { Options } from './runner.ts'
import { signIn } from './sessions.ts'

const repeats = 30
const secondsMax = 60

/** What a project with many calls is asked, one client at a time. */
interface Question {
  what: string
  /** `:project` stands for the project. */
  paths: string[]
  /** The most milliseconds of processor for all of the paths; by default they are only reported. */
  processorMsMax?: number
  /** What two other clients ask meanwhile, and the most milliseconds of the 99th percentile then. */
  beside?: { paths: string[]; p99MsMax: number }
}

const page = '/v1/calls?limit=100'
export const filteredPage = `${page}&status=completed&evaluation=fail`
/** Of which many calls match each, and none all. */
const noMatch = 'status=completed&evaluation=fail&isEngaged=true'
export const filters = [
  '',
  'status=completed',
  'status=completed&evaluation=fail',
  'evaluation=success,fail&from=2025-06-01',
  'from=2025-06-01&to=2025-06-02',
  'minDuration=10',
  'number=1555',
  'number=99999',
  'callerNumber=%2B9940',
  `text=${commonWord}`,
  `text=${rareWord}`,
  `text=${commonWord}&evaluation=fail`,
  noMatch,
]
const quarter = 'from=2025-04-01&to=2025-06-30'
/** Of GET /v1/metrics, with the most milliseconds of processor. */
const figures: [query: string, processorMsMax?: number][] = [
  [`by=day&${quarter}`, 60],
  [`by=day&${quarter}&timeZone=Europe/Berlin`, 60],
  [`of=success&by=day&${quarter}`, 60],
  [`of=duration&show=p95&by=day&${quarter}`, 400],
  ['of=duration&show=p95&by=day'],
  ['of=duration&show=p95'],
  [`of=costUsd&show=sum&by=day&${quarter}`],
  [`of=analysis.score&show=avg&by=day&${quarter}`],
  [`by=agentId&${quarter}`],
  [`by=label&${quarter}`],
  [`by=analysis.intent&${quarter}`],
  [`by=day&${quarter}&evaluation=fail`],
  [`by=day&${quarter}&agentId=agent-3`],
  [`of=success&by=day&${quarter}&source=vapi`],
  [`of=duration&show=p95&by=day&${quarter}&analysis.intent=intent-3`],
  [`by=day&${quarter}&label=billing`],
]
/** The longest period, with every call, and the one that is shown first. */
export const periods = [
  { days: 365, before: '2024-01-02', from: '2025-01-01', to: '2026-01-01' },
  { days: 30, before: '2025-05-02', from: '2025-06-01', to: '2025-07-01' },
]

/** What each part of the overview asks for, as in src/console/ui/views/overview. */
export function cardsOf({ before, from, to }: (typeof periods)[number]): Record<string, string[]> {
  const at = (day: string) => `${day}T00:00:00.000Z`
  const now = `from=${at(from)}&to=${at(to)}`
  const earlier = `from=${at(before)}&to=${at(from)}`
  const compared = (of: string) => [now, earlier].map((period) => `metrics?of=${of}&${period}`)
  const chart = (...queries: string[]) =>
    queries.map((query) => `metrics?${query}&timeZone=Europe/Berlin&${now}`)
  const trend = (of: string) => [...chart(`of=${of}&by=day`), ...compared(of)]
  return {
    figures: ['calls', 'success', 'duration&show=p50', 'isEngaged'].flatMap(compared),
    'calls per day': chart('by=day', 'by=day,evaluation'),
    durations: chart('by=duration'),
    'end reasons': chart('by=endedReason'),
    cost: trend('costUsd&show=sum'),
    latency: trend('latencyMs&show=p95'),
    'criteria, each': compared('criterion.greeting&show=share'),
    failures: chart('of=success&by=agentId', 'of=success&by=source'),
    'failed calls': [`calls?evaluation=fail&${now}&limit=5`],
    'live calls': ['calls?status=live&limit=5'],
    knowledge: ['overview/knowledge'],
  }
}

export const inConsole = (path: string) => `/console/api/projects/:project/${path}`
const cards = periods.flatMap((period) =>
  Object.entries(cardsOf(period)).map(([card, paths]) => ({
    what: `${period.days} days: ${card}`,
    paths: paths.map(inConsole),
    processorMsMax: 60,
  })),
)

/** The questions of each case. */
export const questions = {
  find: [
    ...filters.map((query) => ({
      what: `page of 100: ${query || 'all'}`,
      paths: [`${page}&${query}`],
      processorMsMax: query === noMatch ? 120 : 60,
    })),
    ...['call-facets', 'calls?order=-duration&evaluation=fail'].map((path) => ({
      what: `console: ${path}`,
      paths: [inConsole(path)],
      processorMsMax: 60,
    })),
    {
      what: 'filtered page while two people work on the overview',
      paths: [filteredPage],
      beside: { paths: cards.slice(0, 4).flatMap(({ paths }) => paths), p99MsMax: 30 },
    },
  ],
  metrics: [
    ...figures.map(([query, processorMsMax]) => ({
      what: `metrics: ${query}`,
      paths: [`/v1/metrics?${query}`],
      ...(processorMsMax === undefined ? {} : { processorMsMax }),
    })),
    {
      what: 'filtered page while two clients ask for percentiles of all calls',
      paths: [filteredPage],
      beside: { paths: figures.slice(4, 6).map(([query]) => `/v1/metrics?${query}`), p99MsMax: 30 },
    },
  ],
  cards,
} satisfies Record<string, Question[]>

/** Asks each question often, by the service's processor time. */
export async function benchQuestions(asked: readonly Question[], options: Options): Promise<Row[]> {
  const { texts, start, calls } = options
  const dataset = copyDataset(await callsDataset({ texts }, calls))
  const { cookie, project, ...service } = await signIn(dataset, start)
  const loadOf = (paths: readonly string[], times: number) => ({
    key: dataset.key,
    cookie,
    requests: paths.map((path) => ({ path: path.replace(':project', project) })),
    connections: 1,
    seconds: secondsMax,
    count: times * paths.length,
  })
  const rows: Row[] = []
  for (const { what: question, paths, processorMsMax, beside } of asked) {
    const what = `${formatCount(calls)} calls, ${question}`
    const first = await measure(service, loadOf(paths, 1))
    const busy = beside && {
      ...loadOf(beside.paths, Number.MAX_SAFE_INTEGER),
      url: service.url,
      connections: 2,
    }
    const working = busy && runLoad({ ...busy, seconds: secondsMax / 3 })
    const next = await measure(service, loadOf(paths, repeats))
    await working
    const [ms, firstMs] = [next, first].map(({ usEach }) => (usEach * paths.length) / 1_000) as [
      number,
      number,
    ]
    const latency = `${paths.length > 1 ? `each of ${paths.length} requests ` : ''}${formatLatency(next)}`
    const more = `; the first time ${formatCount(firstMs)} ms; ${latency}`
    if (beside)
      rows.push(row(what, formatLatency(next), `p99 ≤ ${beside.p99MsMax} ms`, next.p99Ms <= beside.p99MsMax))
    else if (processorMsMax === undefined) rows.push(row(what, `${formatCount(ms)} ms of processor${more}`))
    else rows.push(atMost(what, ms, processorMsMax, 'ms of processor', more))
  }
  return rows
}
