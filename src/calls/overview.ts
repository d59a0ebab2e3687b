import { type SQL, sql } from 'drizzle-orm'
import type { ReadDatabase } from '../db/reader.ts'
import type { StoreOf } from '../db/store.ts'
import { invalidRequest } from '../errors.ts'
import { readInstant } from '../text/instant.ts'
import { callCount, countsByDay } from './ranges.ts'
import { partsOfZone, type ZonePart } from './time-zone.ts'

const msPerDay = 86_400_000
const msPerHour = 3_600_000
const periodDaysMax = 366
const valuesMax = 100
/** Seconds at which a bucket of durations ends and the next begins. */
const durationBounds = [10, 30, 60, 120, 180, 300, 600, 1_200, 1_800]

/** Milliseconds since 1970: `from` is included, `to` is not. */
type Period = Record<'from' | 'to', number>
/** The same in ISO 8601. */
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

export interface CallsOfDay {
  /** `2026-01-31` */
  day: string
  success: number
  fail: number
  other: number
  unevaluated: number
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
export interface CallOrigins {
  sources: FirstValues<CallsOf>
  agents: FirstValues<CallsOf>
}

/** The first hundred values. */
export interface FirstValues<Row> {
  data: Row[]
  /** How many more there are, and their calls. */
  others: { values: number; calls: number }
}

/** Figures of a period of at most 366 days, counted in covering indexes. */
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

  /** Every day of the period in a time zone, such as `Europe/Berlin`, also those without calls. */
  async days(
    projectId: number,
    { zone = 'UTC', ...texts }: PeriodTexts & { zone?: string | undefined },
  ): Promise<{ data: CallsOfDay[] }> {
    const period = readPeriod(texts)
    const parts = partsOfZone(period, zone)
    const byDay = new Map<number, typeof noCalls>()
    for (const part of parts) {
      const rows = await this.#read(projectId)
        .select({
          day: sql<number>`day`,
          success: sql<number>`sum(success)`,
          fail: sql<number>`sum(fail)`,
          other: sql<number>`sum(calls - success - fail - unevaluated)`,
          unevaluated: sql<number>`sum(unevaluated)`,
        })
        .from(sql`(${countsByDay(projectId, part)})`)
        .groupBy(sql`day`)
      // A day on which clocks change has two parts.
      for (const { day, ...counts } of rows) byDay.set(day, sumOf(byDay.get(day) ?? noCalls, counts))
    }
    const data = daysOf(parts).map((day) => ({
      day: new Date(day * msPerDay).toISOString().slice(0, 10),
      ...(byDay.get(day) ?? noCalls),
    }))
    return { data }
  }

  /** Completed calls by duration. */
  async durations(projectId: number, texts: PeriodTexts): Promise<{ data: DurationBucket[] }> {
    const period = readPeriod(texts)
    const buckets = [...durationBounds, null].map((to, at) => ({ from: durationBounds[at - 1] ?? 0, to }))
    const counts = Object.fromEntries(
      buckets.map(({ from, to }) => [
        String(from),
        countIf(to === null ? sql`duration >= ${from}` : sql`duration >= ${from} and duration < ${to}`),
      ]),
    )
    const [row] = await this.#read(projectId)
      .select(counts)
      .from(glance)
      .where(sql`${isIn(projectId, period)} and status = 'completed'`)
    return { data: buckets.map(({ from, to }) => ({ from, to, calls: row?.[String(from)] ?? 0 })) }
  }

  /** The most frequent end reasons. No reason counts as one of them. */
  async endReasons(projectId: number, texts: PeriodTexts): Promise<FirstValues<EndReason>> {
    const period = readPeriod(texts)
    const rows = await this.#read(projectId)
      .select({ value: sql<string | null>`ended_reason`, ...countsOfValue })
      .from(glance)
      .where(isIn(projectId, period))
      .groupBy(sql`ended_reason`)
      .orderBy(sql`calls desc`, sql`ended_reason`)
      .limit(valuesMax)
    return { data: rows.map(({ value, calls }) => ({ value, calls })), others: othersOf(rows) }
  }

  /** The platforms and the agents of calls, those with the most failures first. Calls without one are not counted. */
  async origins(projectId: number, texts: PeriodTexts): Promise<CallOrigins> {
    const period = readPeriod(texts)
    const countsOf = (column: SQL, index: SQL) =>
      this.#read(projectId)
        .select({
          value: sql<string>`${column}`,
          ...countsOfValue,
          failed: sql<number>`sum(evaluation is 'fail') as failed`,
          newest: sql<number>`max(seq)`,
        })
        .from(sql`calls indexed by ${index}`)
        .where(sql`${isIn(projectId, period)} and ${column} is not null`)
        .groupBy(column)
        .orderBy(sql`failed desc`, sql`calls desc`, column)
        .limit(valuesMax)
    const bySource = await countsOf(sql`source`, sql`calls_by_source`)
    const byAgent = await countsOf(sql`agent_id`, sql`calls_by_agent_id`)
    const named = await this.#read(projectId)
      .select({ seq: sql<number>`seq`, name: sql<string | null>`details ->> '$.agent.name'` })
      .from(sql`call_details`)
      .where(sql`seq in ${byAgent.map(({ newest }) => newest).concat(-1)}`)
    const names = new Map(named.map(({ seq, name }) => [seq, name]))
    const sources = bySource.map(({ value, calls, failed }) => ({ value, name: null, calls, failed }))
    const agents = byAgent.map(({ value, calls, failed, newest }) => ({
      ...{ value, name: names.get(newest) ?? null, calls, failed },
    }))
    return {
      sources: { data: sources, others: othersOf(bySource) },
      agents: { data: agents, others: othersOf(byAgent) },
    }
  }

  async #figuresOf(projectId: number, period: Period) {
    const db = this.#read(projectId)
    const [row] = await db
      .select({
        calls: sql<number>`count(*)`,
        // `avg` ignores calls without an evaluation.
        successRate: sql<number | null>`avg(evaluation = 'success')`,
        engagement: sql<number | null>`avg(is_engaged)`,
        completed: countIf(sql`status = 'completed'`),
        ofProject: callCount(sql`${projectId}`),
      })
      .from(glance)
      .where(isIn(projectId, period))
    const { completed, ofProject, ...figures } = row ?? noFigures
    const medianDuration =
      completed > 0 ? await readMedian(db, projectId, period, { completed, ofProject }) : null
    return { ...figures, medianDuration }
  }

  #read(projectId: number): ReadDatabase {
    return this.#store(projectId).readAside
  }
}

const glance = sql`calls indexed by calls_at_a_glance`
const noCalls = { success: 0, fail: 0, other: 0, unevaluated: 0 }
const noFigures = { calls: 0, successRate: null, engagement: null, completed: 0, ofProject: 0 }

/** Counts the calls of each value and, before the limit applies, of all values. */
const countsOfValue = {
  calls: sql<number>`count(*) as calls`,
  allCalls: sql<number>`sum(count(*)) over ()`,
  allValues: sql<number>`count(*) over ()`,
}

function othersOf(rows: { calls: number; allCalls: number; allValues: number }[]) {
  const [{ allCalls, allValues } = { allCalls: 0, allValues: 0 }] = rows
  const shown = rows.reduce((sum, { calls }) => sum + calls, 0)
  return { values: allValues - rows.length, calls: allCalls - shown }
}

/** The middle one of the durations, or the mean of the two in the middle. */
async function readMedian(
  db: ReadDatabase,
  projectId: number,
  period: Period,
  { completed, ofProject }: { completed: number; ofProject: number },
) {
  // Sorting a call by duration takes about as long as reading 16 calls from the index of durations.
  const index = completed * 16 > ofProject ? sql`calls_by_duration` : sql`calls_at_a_glance`
  // The index of durations does not have the status.
  const live = sql`select seq from calls indexed by calls_by_status
    where ${isIn(projectId, period)} and status = 'live'`
  const middle = db
    .select({ duration: sql<number>`duration` })
    .from(sql`calls indexed by ${index}`)
    .where(sql`${isIn(projectId, period)} and seq not in (${live})`)
    .orderBy(sql`duration`)
    .limit(completed % 2 === 0 ? 2 : 1)
    .offset((completed - 1) >> 1)
    .as('middle')
  const [row] = await db.select({ median: sql<number | null>`avg(middle.duration)` }).from(middle)
  return row?.median ?? null
}

function isIn(projectId: number, { from, to }: Period): SQL {
  return sql`project_id = ${projectId} and created_at >= ${from} and created_at < ${to}`
}

function countIf(condition: SQL): SQL<number> {
  return sql<number>`count(*) filter (where ${condition})`
}

function sumOf(one: typeof noCalls, other: typeof noCalls): typeof noCalls {
  return {
    success: one.success + other.success,
    fail: one.fail + other.fail,
    other: one.other + other.other,
    unevaluated: one.unevaluated + other.unevaluated,
  }
}

/** Days since 1970. */
function daysOf(parts: ZonePart[]): number[] {
  const [start, end] = [parts[0], parts.at(-1)]
  if (!start || !end) return []
  const [first, last] = [start.from + start.ahead, end.to - 1 + end.ahead].map((ms) =>
    Math.floor(ms / msPerDay),
  )
  if (first === undefined || last === undefined) return []
  return Array.from({ length: last - first + 1 }, (_, at) => first + at)
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
  return (to - from - msPerHour) / msPerDay <= periodDaysMax
}
