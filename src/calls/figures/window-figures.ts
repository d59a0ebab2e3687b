import { type SQL, sql } from 'drizzle-orm'
import { calls } from '../../db/schema.ts'
import type { StoreOf } from '../../db/store.ts'
import { AppError, type FieldError, invalidRequest } from '../../errors.ts'
import { type GivenFilters, queryOfGiven } from '../finding/given-filters.ts'
import type { Period } from '../finding/period.ts'
import { type Figures, figureOf } from './figures.ts'
import { readFiguresRequest } from './figures-request.ts'
import { percentsOf, shows } from './measures.ts'
import { groupOf } from './pass.ts'

/** A figure of the calls of a window of time: of those that were created in it, or completed if it is not their number. */
export interface Watched {
  /** As in a body. */
  filters: GivenFilters
  of: string
  show: string
}

/** What the window takes the place of, and words, which are not looked up each minute. */
const refusedFilters = ['from', 'to', 'completedFrom', 'completedTo', 'text']

/** How many numbers are read at most, which takes some 50 MB. */
const numbersMax = 500_000

/** Figures of windows of time that move on. */
export class WindowFigures {
  readonly #options: { store: StoreOf; figures: Figures }

  constructor(options: { store: StoreOf; figures: Figures }) {
    this.#options = options
  }

  /** @throws invalid_request naming each member that cannot be read */
  check({ filters, of, show }: Watched): void {
    const errors: FieldError[] = Object.keys(filters)
      .filter((name) => refusedFilters.includes(name))
      .map((field) => ({ field, message: 'cannot be a filter here' }))
    const query = queryOfGiven(filters, errors)
    try {
      readFiguresRequest({ ...query, of, show })
    } catch (error) {
      // Those of the filters are named with them.
      if (!(error instanceof AppError) || !error.errors) throw error
      errors.push(...error.errors)
    }
    if (errors.length === 0) return
    const isOwn = (field: string) => field === 'of' || field === 'show'
    throw invalidRequest(
      errors.map(({ field, message }) => ({ field: isOwn(field) ? field : `filters.${field}`, message })),
    )
  }

  /** The query with which the list finds exactly the calls of the window. */
  queryOf({ filters, of }: Watched, { from, to }: Period): Record<string, string[]> {
    const [since, before] = of === 'calls' ? ['from', 'to'] : ['completedFrom', 'completedTo']
    const time = (at: number) => [new Date(at).toISOString()]
    return { ...queryOfGiven(filters, []), [since]: time(from), [before]: time(to) }
  }

  async read(
    projectId: number,
    watched: Watched,
    period: Period,
  ): Promise<{ value: number | null; calls: number }> {
    const { of, show } = watched
    const query = { ...this.queryOf(watched, period), of, show }
    const [all] = (await this.#options.figures.read(projectId, query)).data
    return { value: all?.value ?? null, calls: all?.calls ?? 0 }
  }

  /** Until when a window of this length may end without a call that enters or leaves it, if none changes. */
  async steadyUntil(projectId: number, { of }: Watched, { from, to }: Period): Promise<number> {
    const time = timeOf(of)
    const first = (at: number) => sql`(
      select ${time} from ${calls} where project_id = ${projectId} and ${time} >= ${at} order by ${time} limit 1)`
    const [row] = await this.#options.store(projectId).read.all<{
      leaves: number | null
      enters: number | null
    }>(sql`select ${first(from)} as leaves, ${first(to)} as enters`)
    const { leaves, enters } = { leaves: row?.leaves ?? null, enters: row?.enters ?? null }
    const leavesAt = leaves === null ? Number.POSITIVE_INFINITY : leaves + to - from
    return Math.min(leavesAt, enters ?? Number.POSITIVE_INFINITY)
  }

  /** What is shown of calls with these numbers. */
  valueOf(show: string, numbers: readonly (number | null)[]): number | null {
    const known = shows.find((each) => each === show)
    return known ? figureOf(known, [groupOf(numbers, percentsOf(known))]).value : null
  }

  /**
   * The time and the number of each call of a period, in the order of time; of calls that are counted it is null.
   * @throws invalid_request if there are too many
   */
  async numbers(
    projectId: number,
    watched: Watched,
    period: Period,
  ): Promise<{ at: number; number: number | null }[]> {
    const { of, show } = watched
    const db = this.#options.store(projectId).readInBackground
    const { measure, search } = readFiguresRequest({ ...this.queryOf(watched, period), of, show })
    const listedAt = of === 'calls' ? 'calls.created_at' : 'calls.completed_at'
    const question = { of: measure.of, by: [], percents: [], listedAt }
    const { listed, total } = await this.#options.figures.ask(db, projectId, search, question)
    if (total > numbersMax)
      throw invalidRequest([{ field: 'filters', message: `find more than ${numbersMax} calls` }])
    const { at, numbers } = listed ?? { at: [], numbers: [] }
    return at
      .map((each, place) => ({ at: each, number: numbers[place] ?? null }))
      .map((each) => (Number.isNaN(each.number) ? { ...each, number: null } : each))
      .sort((a, b) => a.at - b.at)
  }
}

/** The column of the time by which calls are in a window. */
function timeOf(of: string): SQL {
  return sql`${of === 'calls' ? calls.createdAt : calls.completedAt}`
}
