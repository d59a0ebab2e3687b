import { sql } from 'drizzle-orm'
import type { ReadDatabase } from '../../db/reader.ts'
import type { StoreOf } from '../../db/store.ts'
import { invalidRequest } from '../../errors.ts'
import { readInstant } from '../../text/instant.ts'
import { readAgentNames } from '../finding/agent-names.ts'
import { type Counts, countBy, cutPeriod, dayMs, type Period } from '../finding/counts.ts'

const msPerHour = 3_600_000
const periodDaysMax = 366
const valuesMax = 100
/** Seconds at which a bucket of durations ends and the next begins. */
const durationBounds = [10, 30, 60, 120, 180, 300, 600, 1_200, 1_800]

/** The same as `Period` in ISO 8601. */
type PeriodTexts = Record<'from' | 'to', string>

/** Figures of a period and of the one before it. */
export interface OverviewFigures {
  calls: Figure
  /** Share of evaluated calls that are a success, 0 to 1; null if none is evaluated. */
  successRate: Figure
  /** Seconds, of completed calls. */
  medianDuration: Figure
  /** Share of calls that are engaged, 0 to 1. */
  engagement: Figure
}

export interface Figure {
  value: number | null
  before: number | null
}

export interface DurationBucket {
  /** Seconds: `from` is included, `to` is not; null means no upper bound. */
  from: number
  to: number | null
  calls: number
}

export interface EndReason {
  /** Null for calls without a reason. */
  value: string | null
  calls: number
}

/** A platform or an agent, and its calls. */
export interface CallsOf {
  value: string
  /** An agent's name; null if it has none. */
  name: string | null
  calls: number
  /** The calls evaluated as failed. */
  failed: number
}

/** The hundred with the most failed calls, then those with the most calls. */
interface CallOrigins {
  sources: FirstValues<CallsOf>
  agents: FirstValues<CallsOf>
}

/** The first hundred values. */
export interface FirstValues<Row> {
  data: Row[]
  /** How many more there are, and their calls. */
  others: { values: number; calls: number }
}

/** Figures of a period of at most 366 days. */
export class Overview {
  readonly #store: StoreOf

  constructor({ store }: { store: StoreOf }) {
    this.#store = store
  }

  /**
   * The figures of a period and of the one before it.
   * @param texts `before`: the start of the earlier period. The caller gives it, because not every day has 24 hours.
   */
  async figures(projectId: number, texts: PeriodTexts & { before: string }): Promise<OverviewFigures> {
    const period = readPeriod(texts)
    const earlier = readPeriodBefore(texts.before, period)
    const now = await this.#figuresOf(projectId, period)
    const before = await this.#figuresOf(projectId, earlier)
    const figure = (name: keyof typeof now) => ({ value: now[name], before: before[name] })
    return {
      calls: figure('calls'),
      successRate: figure('successRate'),
      medianDuration: figure('medianDuration'),
      engagement: figure('engagement'),
    }
  }

  /** Completed calls by duration. */
  async durations(projectId: number, texts: PeriodTexts): Promise<{ data: DurationBucket[] }> {
    const period = readPeriod(texts)
    const buckets = [...durationBounds, null].map((to, at) => ({
      from: durationBounds[at - 1] ?? 0,
      to,
      calls: 0,
    }))
    for (const { seconds, calls } of await readDurations(this.#read(projectId), projectId, period)) {
      const bucket = buckets.findLast(({ from }) => seconds >= from)
      if (bucket) bucket.calls += calls
    }
    return { data: buckets }
  }

  /** The most frequent end reasons. No reason counts as one of them. */
  async endReasons(projectId: number, texts: PeriodTexts): Promise<FirstValues<EndReason>> {
    const period = readPeriod(texts)
    const counted = await countBy(this.#read(projectId), projectId, sql<string | null>`ended_reason`, period)
    const rows = [...counted].map(([value, { calls }]) => ({ value, calls }))
    return firstOf(rows, byCalls)
  }

  /** The platforms and the agents of calls, those with the most failures first. Calls without one are not counted. */
  async origins(projectId: number, texts: PeriodTexts): Promise<CallOrigins> {
    const period = readPeriod(texts)
    const db = this.#read(projectId)
    const bySource = await countBy(db, projectId, sql<string | null>`source`, period)
    const byAgent = await countBy(db, projectId, sql<string | null>`agent_id`, period)
    const sources = firstOf(originsIn(bySource), byFailures)
    const agents = firstOf(originsIn(byAgent), byFailures)
    const names = await readAgentNames(
      db,
      projectId,
      agents.data.map(({ value }) => value),
    )
    const data = agents.data.map((agent) => ({ ...agent, name: names.get(agent.value) ?? null }))
    return { sources, agents: { ...agents, data } }
  }

  async #figuresOf(projectId: number, period: Period) {
    const db = this.#read(projectId)
    const counted = await countBy(db, projectId, undefined, period)
    const { calls, success, unevaluated, engaged } = counted.get(null) ?? noFigures
    const evaluated = calls - unevaluated
    return {
      calls,
      successRate: evaluated > 0 ? success / evaluated : null,
      engagement: calls > 0 ? engaged / calls : null,
      medianDuration: await readMedian(db, projectId, period),
    }
  }

  #read(projectId: number): ReadDatabase {
    return this.#store(projectId).readForConsole
  }
}

const noFigures = { calls: 0, success: 0, unevaluated: 0, engaged: 0 }

function originsIn(counted: ReadonlyMap<string | null, Counts>): CallsOf[] {
  return [...counted].flatMap(([value, { calls, fail }]) =>
    value === null ? [] : [{ value, name: null, calls, failed: fail }],
  )
}

type Ordered<Row> = (a: Row, b: Row) => number

function byFailures(a: CallsOf, b: CallsOf): number {
  return b.failed - a.failed || byCalls(a, b)
}

function byCalls(a: EndReason, b: EndReason): number {
  return b.calls - a.calls || (a.value === null || (b.value !== null && a.value < b.value) ? -1 : 1)
}

function firstOf<Row extends { calls: number }>(rows: Row[], order: Ordered<Row>): FirstValues<Row> {
  const others = rows.sort(order).slice(valuesMax)
  const calls = others.reduce((sum, row) => sum + row.calls, 0)
  return { data: rows.slice(0, valuesMax), others: { values: others.length, calls } }
}

const isCompleted = sql`status = 'completed'`
const longest = 1_800

/** How many completed calls last so many tens of seconds, shortest first. The last entry has all longer calls. */
async function readDurations(db: ReadDatabase, projectId: number, period: Period) {
  const tens = sql<number>`min(cast(duration / 10 as integer), ${sql.raw(`${longest / 10}`)}) * 10`
  const counted = await countBy(db, projectId, tens, period, isCompleted)
  return [...counted]
    .map(([seconds, { calls }]) => ({ seconds: seconds ?? 0, calls }))
    .sort((a, b) => a.seconds - b.seconds)
}

/** The middle one of the durations, or the mean of the two in the middle. Sorts only the counted ones around it. */
async function readMedian(db: ReadDatabase, projectId: number, period: Period): Promise<number | null> {
  const durations = await readDurations(db, projectId, period)
  const completed = durations.reduce((sum, { calls }) => sum + calls, 0)
  const middle = (completed - 1) >> 1
  const wanted = completed % 2 === 0 ? [middle, middle + 1] : [middle]
  let shorter = 0
  const around: number[] = []
  for (const { seconds, calls } of durations) {
    if (wanted.some((at) => at >= shorter && at < shorter + calls)) {
      const to = seconds === longest ? Number.MAX_SAFE_INTEGER : seconds + 10
      around.push(...(await durationsIn(db, projectId, period, { from: seconds, to })))
    } else if (around.length === 0) shorter += calls
  }
  if (completed === 0) return null
  around.sort((a, b) => a - b)
  return wanted.reduce((sum, at) => sum + (around[at - shorter] ?? 0), 0) / wanted.length
}

/** The durations of completed calls of a period, from some seconds to others. */
async function durationsIn(
  db: ReadDatabase,
  projectId: number,
  period: Period,
  seconds: Period,
): Promise<number[]> {
  const found: number[] = []
  for await (const { from, to } of cutPeriod(db, projectId, period)) {
    const [row] = await db
      .select({ durations: sql<string>`json_group_array(duration)` })
      .from(sql`calls indexed by calls_by_created_at`)
      .where(sql`project_id = ${projectId} and created_at >= ${from} and created_at < ${to} and ${isCompleted}
        and duration >= ${seconds.from} and duration < ${seconds.to}`)
    found.push(...(JSON.parse(row?.durations ?? '[]') as number[]))
  }
  return found
}

/** @throws invalid_request for times that cannot be read, and for a period that is empty or longer than 366 days. */
function readPeriod(texts: PeriodTexts): Period {
  const [from, to] = [readInstant(texts.from), readInstant(texts.to)]
  if (from === null || to === null) {
    const message = 'must be an ISO 8601 time with a zone, such as 2026-01-31T09:30:00.000Z'
    const bad = (['from', 'to'] as const).filter((field) => readInstant(texts[field]) === null)
    throw invalidRequest(bad.map((field) => ({ field, message })))
  }
  if (to > from && isShort({ from, to })) return { from, to }
  const message = to <= from ? 'must be after from' : `must be at most ${periodDaysMax} days after from`
  throw invalidRequest([{ field: 'to', message }])
}

function readPeriodBefore(text: string, { from }: Period): Period {
  const before = readInstant(text)
  if (before !== null && before < from && isShort({ from: before, to: from }))
    return { from: before, to: from }
  const message = `must be an ISO 8601 time with a zone, before from and at most ${periodDaysMax} days earlier`
  throw invalidRequest([{ field: 'before', message }])
}

function isShort({ from, to }: Period): boolean {
  // Days in a time zone may be an hour longer.
  return (to - from - msPerHour) / dayMs <= periodDaysMax
}
