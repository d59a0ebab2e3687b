import { type SQL, sql } from 'drizzle-orm'
import type { ReadDatabase } from '../../db/reader.ts'
import type { StoreOf } from '../../db/store.ts'
import { invalidRequest } from '../../errors.ts'
import { readInstant } from '../../text/instant.ts'
import { readAgentNames } from '../finding/agent-names.ts'
import { type CountedName, countsByQuarter, countsByValue, dayMs, type Period } from '../finding/counts.ts'

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
  /** Seconds of completed calls. */
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

  /** Returns completed calls by duration. */
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
    const rows = await this.#countsOf(projectId, 'endedReason', {
      period,
      isAny: true,
      order: sql`calls desc`,
    })
    return { data: rows.map(({ value, calls }) => ({ value, calls })), others: othersOf(rows) }
  }

  /** The platforms and the agents of calls, those with the most failures first. Calls without one are not counted. */
  async origins(projectId: number, texts: PeriodTexts): Promise<CallOrigins> {
    const query = { period: readPeriod(texts), isAny: false, order: sql`failed desc, calls desc` }
    const bySource = await this.#countsOf(projectId, 'source', query)
    const byAgent = await this.#countsOf(projectId, 'agentId', query)
    const agents = byAgent.map(({ value }) => value)
    const names = await readAgentNames(this.#read(projectId), projectId, agents)
    const toOrigins = (rows: typeof byAgent, nameOf: (value: string) => string | null) => ({
      data: rows.map(({ value, calls, failed }) => ({ value, name: nameOf(value), calls, failed })),
      others: othersOf(rows),
    })
    return {
      sources: toOrigins(bySource, () => null),
      agents: toOrigins(byAgent, (id) => names.get(id) ?? null),
    }
  }

  /** Returns the first values in this order. `isAny`: whether no value is one of them. */
  async #countsOf(
    projectId: number,
    name: CountedName,
    { period, isAny, order }: { period: Period; isAny: boolean; order: SQL },
  ) {
    return await this.#read(projectId)
      .select({
        value: sql<string>`value ->> '$' as value`,
        calls: sql<number>`sum(calls) as calls`,
        failed: sql<number>`sum(fail) as failed`,
        // Before the limit applies.
        allCalls: sql<number>`sum(sum(calls)) over ()`,
        allValues: sql<number>`count(*) over ()`,
      })
      .from(sql`(${countsByValue(projectId, name, period)}) as counted`)
      .where(isAny ? undefined : sql`counted.value <> 'null'`)
      .groupBy(sql`counted.value`)
      .orderBy(order, sql`value`)
      .limit(valuesMax)
  }

  async #figuresOf(projectId: number, period: Period) {
    const db = this.#read(projectId)
    const [row] = await db
      .select({
        calls: sql<number>`coalesce(sum(calls), 0)`,
        evaluated: sql<number>`sum(calls - unevaluated)`,
        success: sql<number>`sum(success)`,
        engaged: sql<number>`sum(engaged)`,
      })
      .from(sql`(${countsByQuarter(projectId, period)})`)
    const { calls, evaluated, success, engaged } = row ?? noFigures
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

const noFigures = { calls: 0, evaluated: 0, success: 0, engaged: 0 }

function othersOf(rows: { calls: number; allCalls: number; allValues: number }[]) {
  const [{ allCalls, allValues } = { allCalls: 0, allValues: 0 }] = rows
  const callsOfRows = rows.reduce((sum, { calls }) => sum + calls, 0)
  return { values: allValues - rows.length, calls: allCalls - callsOfRows }
}

/** How many completed calls last so many tens of seconds, shortest first. The last entry has all longer calls. */
async function readDurations(db: ReadDatabase, projectId: number, period: Period) {
  return await db
    .select({ seconds: sql<number>`cast(value as integer) as seconds`, calls: sql<number>`sum(calls)` })
    .from(sql`(${countsByValue(projectId, 'duration', period)})`)
    .groupBy(sql`seconds`)
    .orderBy(sql`seconds`)
}

/** The middle one of the durations, or the mean of the two in the middle. Reads only the counted ones around it. */
async function readMedian(db: ReadDatabase, projectId: number, { from, to }: Period): Promise<number | null> {
  const durations = await readDurations(db, projectId, { from, to })
  const completed = durations.reduce((sum, { calls }) => sum + calls, 0)
  let shorter = 0
  const around = durations.find(({ calls }) => {
    shorter += calls
    return shorter > (completed - 1) >> 1
  })
  if (!around) return null
  const [row] = await db.select({ median: sql<number | null>`avg(duration)` }).from(sql`(
    select duration from calls indexed by calls_by_duration
    where project_id = ${projectId} and duration >= ${around.seconds} and created_at >= ${from} and created_at < ${to}
      and status = 'completed'
    order by duration limit ${completed % 2 === 0 ? 2 : 1}
    offset ${((completed - 1) >> 1) - (shorter - around.calls)})`)
  return row?.median ?? null
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
