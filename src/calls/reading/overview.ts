import type { Core } from '../../core/core.ts'
import { invalidRequest } from '../../errors.ts'
import { readInstant } from '../../text/instant.ts'
import type { AskedQuestion, Figures } from '../figures/figures.ts'
import { durationColumn, measures } from '../figures/measures.ts'
import type { Answer, Group, Question } from '../figures/question.ts'
import { readAgentNames } from '../finding/agent-names.ts'
import { dayMs, type Period } from '../finding/period.ts'
import { newestFirst } from '../finding/place.ts'

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
  readonly #parts: Core & OverviewParts

  constructor(core: Core, parts: OverviewParts) {
    this.#parts = { ...core, ...parts }
  }

  /**
   * The figures of a period and of the one before it.
   * @param texts `before`: the start of the earlier period. The caller gives it, because not every day has 24 hours.
   */
  async figures(projectId: number, texts: PeriodTexts & { before: string }): Promise<OverviewFigures> {
    const period = readPeriod(texts)
    const periods = [period, readPeriodBefore(texts.before, period)]
    const [now, before] = await Promise.all(
      periods.map(async (each) => {
        const ask = (of: Question['of'], percents: number[] = []) =>
          this.#ask(projectId, each, { of, by: [], percents })
        const [success, engaged, duration] = await Promise.all([
          ask(measures.success.of),
          ask({ value: 'calls.is_engaged', numbers: { 0: 0, 1: 1 } }),
          ask(measures.duration.of, middlePercents),
        ])
        const share = ({ groups: [group] }: Answer) =>
          group && group.numbers > 0 ? group.sum / group.numbers : null
        return {
          calls: success.total,
          successRate: share(success),
          engagement: share(engaged),
          medianDuration: middleOf(duration),
        }
      }),
    )
    const figure = (name: keyof NonNullable<typeof now>) => ({
      value: now?.[name] ?? null,
      before: before?.[name] ?? null,
    })
    return {
      calls: figure('calls'),
      successRate: figure('successRate'),
      medianDuration: figure('medianDuration'),
      engagement: figure('engagement'),
    }
  }

  /** Returns completed calls by duration. */
  async durations(projectId: number, texts: PeriodTexts): Promise<{ data: DurationBucket[] }> {
    const { groups } = await this.#ask(projectId, readPeriod(texts), {
      of: null,
      by: [{ kind: 'bounds', column: durationColumn, bounds: durationBounds }],
      percents: [],
    })
    const calls = new Map(groups.map(({ names: [bucket], calls }) => [bucket, calls]))
    const data = [...durationBounds, null].map((to, at) => ({
      from: durationBounds[at - 1] ?? 0,
      to,
      calls: calls.get(at) ?? 0,
    }))
    return { data }
  }

  /** The most frequent end reasons. No reason counts as one of them. */
  async endReasons(projectId: number, texts: PeriodTexts): Promise<FirstValues<EndReason>> {
    const { groups } = await this.#ask(projectId, readPeriod(texts), {
      of: null,
      by: [{ kind: 'value', column: 'calls.ended_reason' }],
      percents: [],
    })
    return firstOf(
      groups.map(({ names, calls }) => ({ value: textOf(names), calls })),
      () => 0,
    )
  }

  /** The platforms and the agents of calls, those with the most failures first. Calls without one are not counted. */
  async origins(projectId: number, texts: PeriodTexts): Promise<CallOrigins> {
    const period = readPeriod(texts)
    const of = { value: 'calls.evaluation', numbers: { '"fail"': 1 } }
    const by = (column: string) =>
      this.#ask(projectId, period, { of, by: [{ kind: 'value', column }], percents: [], wantsNewest: true })
    const [bySource, byAgent] = await Promise.all([by('calls.source'), by('calls.agent_id')])
    const rowsOf = ({ groups }: Answer) =>
      firstOf(
        groups.flatMap(({ names, calls, numbers: failed, newest }) => {
          const value = textOf(names)
          return value === null ? [] : [{ value, calls, failed, newest }]
        }),
        ({ failed }) => failed,
      )
    const [sources, agents] = [rowsOf(bySource), rowsOf(byAgent)]
    const db = this.#parts.store(projectId).readForConsole
    const names = await readAgentNames(
      db,
      agents.data.map(({ value, newest }) => [value, newest]),
    )
    const named = ({ data, others }: typeof agents, nameOf: (value: string) => string | null) => ({
      data: data.map(({ value, calls, failed }) => ({ value, name: nameOf(value), calls, failed })),
      others,
    })
    return { sources: named(sources, () => null), agents: named(agents, (id) => names.get(id) ?? null) }
  }

  #ask(projectId: number, { from, to }: Period, question: AskedQuestion): Promise<Answer> {
    const { store, figures } = this.#parts
    const search = { conditions: [], from, to, order: newestFirst } as const
    return figures.ask(store(projectId).readForConsole, projectId, search, question, { mayBeOld: true })
  }
}

interface OverviewParts {
  figures: Pick<Figures, 'ask'>
}

/** By nearest rank, the one or two numbers in the middle. */
const middlePercents = [50, 50.000_000_1]

function middleOf({ groups: [group] }: Answer): number | null {
  if (!group || group.numbers === 0) return null
  const [lower = 0, upper = lower] = group.percentiles
  return (lower + upper) / 2
}

function textOf([name]: Group['names']): string | null {
  return typeof name === 'string' ? name : null
}

/** The first values by what comes first, then by calls. */
function firstOf<Row extends { value: string | null; calls: number }>(
  rows: readonly Row[],
  first: (row: Row) => number,
): FirstValues<Row> {
  const sorted = rows.toSorted(
    (a, b) => first(b) - first(a) || b.calls - a.calls || ((a.value ?? '') < (b.value ?? '') ? -1 : 1),
  )
  const rest = sorted.slice(valuesMax)
  return {
    data: sorted.slice(0, valuesMax),
    others: { values: rest.length, calls: rest.reduce((sum, { calls }) => sum + calls, 0) },
  }
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
