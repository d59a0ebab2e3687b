import { copyDataset } from '../dataset.ts'
import { signIn } from './console.ts'
import { atMost, formatCount, type Row } from './figures.ts'
import { formatLatency, type Measured, measure } from './load.ts'
import { metricsDataset } from './metrics.ts'
import type { Options } from './runner.ts'

const repeats = 20
const secondsMax = 120
const processorMsMax = 60
/** Whose days are none of UTC. */
const zone = 'Europe/Berlin'

/** ISO days: `from` and `before` are included, `to` is not. */
interface Period {
  days: number
  before: string
  from: string
  to: string
}

/** The longest period, with every call of the dataset, and the one that is shown first. */
const periods: Period[] = [
  { days: 365, before: '2024-01-02', from: '2025-01-01', to: '2026-01-01' },
  { days: 30, before: '2025-05-02', from: '2025-06-01', to: '2025-07-01' },
]

/** The cards of the console's overview, by the processor time of what each asks for. */
export async function benchOverview({ start, calls }: Options): Promise<Row[]> {
  const dataset = copyDataset(await metricsDataset(calls))
  const { project, cookie, ...service } = await signIn(dataset, start)
  const rows: Row[] = []
  for (const period of periods)
    for (const [card, paths] of Object.entries(cardsOf(period))) {
      const requests = paths.map((path) => ({ path: `/console/api/projects/${project}/${path}` }))
      const load = { key: '', cookie, requests, connections: 1, seconds: secondsMax }
      const msOf = ({ usEach }: Measured) => (usEach * paths.length) / 1_000
      const first = await measure(service, { ...load, count: paths.length })
      const next = await measure(service, { ...load, count: repeats * paths.length })
      const what = `overview of ${formatCount(calls)} calls in a year, ${period.days} days: ${card}`
      const more = `; the first time ${formatCount(msOf(first))} ms; ${counted(paths.length)}, ${formatLatency(next)}`
      rows.push(atMost(what, msOf(next), processorMsMax, 'ms of processor', more))
    }
  return rows
}

function counted(requests: number): string {
  return requests === 1 ? 'one request' : `each of ${requests} requests`
}

/** What each card asks for, as in src/console/ui/views/overview/overview-queries.ts. */
function cardsOf({ before, from, to }: Period): Record<string, string[]> {
  const at = (day: string) => `${day}T00:00:00.000Z`
  const now = `from=${at(from)}&to=${at(to)}`
  const earlier = `from=${at(before)}&to=${at(from)}`
  const trend = (of: string) =>
    [`${of}&by=day&timeZone=${zone}&${now}`, `${of}&${now}`, `${of}&${earlier}`].map(
      (query) => `metrics?of=${query}`,
    )
  return {
    figures: [`overview/figures?before=${at(before)}&${now}`],
    'calls per day': ['', '&evaluation=success', '&evaluation=fail', '&evaluation=none'].map(
      (filter) => `metrics?by=day&timeZone=${zone}&${now}${filter}`,
    ),
    durations: [`overview/durations?${now}`],
    'end reasons': [`overview/end-reasons?${now}`],
    cost: trend('costUsd&show=sum'),
    latency: trend('latencyMs&show=p95'),
    'criteria, each': [now, earlier].map((period) => `metrics?of=criterion.greeting&show=share&${period}`),
    origins: [`overview/origins?${now}`],
    'failed calls': [`calls?evaluation=fail&${now}&limit=5`],
    'live calls': ['calls?status=live&limit=5'],
    knowledge: ['overview/knowledge'],
  }
}
