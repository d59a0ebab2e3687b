import { sql } from 'drizzle-orm'
import type { Core } from '../../core/core.ts'
import { calls } from '../../db/schema.ts'
import { AppError, type FieldError, invalidRequest } from '../../errors.ts'
import { type GivenFilters, queryOfGiven } from '../finding/given-filters.ts'
import type { Period } from '../finding/period.ts'
import type { Figures } from './figures.ts'
import { readFiguresRequest } from './figures-request.ts'
import type { Passes } from './passes.ts'
import type { Windows } from './windows.ts'

/** A figure of the calls of a window of time: of those that were created in it, or completed if it is not their number. */
export interface Watched {
  /** As in a body. */
  filters: GivenFilters
  of: string
  show: string
}

/** What the window takes the place of, and words, which are not looked up each minute. */
const refusedFilters = ['from', 'to', 'completedFrom', 'completedTo', 'text']

const callsMax = 500_000

interface WindowFiguresParts {
  figures: Pick<Figures, 'ask' | 'read'>
  passes: Pick<Passes, 'figuresOfWindows'>
}

/** Figures of windows of time that move on. */
export class WindowFigures {
  readonly #parts: Core & WindowFiguresParts

  constructor(core: Core, parts: WindowFiguresParts) {
    this.#parts = { ...core, ...parts }
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
    const [all] = (await this.#parts.figures.read(projectId, query)).data
    return { value: all?.value ?? null, calls: all?.calls ?? 0 }
  }

  /** Until when a window of this length may end without a call that enters or leaves it, if none changes. */
  async steadyUntil(projectId: number, { of }: Watched, { from, to }: Period): Promise<number> {
    const time = timeOf(of)
    const first = (at: number) => sql`(
      select ${time} from ${calls} where project_id = ${projectId} and ${time} >= ${at} order by ${time} limit 1)`
    const [row] = await this.#parts.store(projectId).read.all<{
      leaves: number | null
      enters: number | null
    }>(sql`select ${first(from)} as leaves, ${first(to)} as enters`)
    const { leaves, enters } = { leaves: row?.leaves ?? null, enters: row?.enters ?? null }
    const leavesAt = leaves === null ? Number.POSITIVE_INFINITY : leaves + to - from
    return Math.min(leavesAt, enters ?? Number.POSITIVE_INFINITY)
  }

  /**
   * The figure of each window, the earliest first, found on a thread of its own.
   * @throws invalid_request if they have too many calls
   */
  async ofWindows(projectId: number, watched: Watched, windows: Windows) {
    const db = this.#parts.store(projectId).readInBackground
    const period = { from: windows.firstEnd - windows.lengthMs, to: windows.lastEnd }
    const { of, show: wanted } = watched
    const { measure, search, show } = readFiguresRequest({
      ...this.queryOf(watched, period),
      of,
      show: wanted,
    })
    const question = { of: measure.of, by: [], percents: [], listedAt: `calls.${timeOf(of).name}` }
    const { listed, total } = await this.#parts.figures.ask(db, projectId, search, question)
    if (total > callsMax || !listed)
      throw invalidRequest([{ field: 'filters', message: `find more than ${callsMax} calls` }])
    return await this.#parts.passes.figuresOfWindows(listed, show, windows)
  }
}

/** The column of the time by which calls are in a window. */
function timeOf(of: string) {
  return of === 'calls' ? calls.createdAt : calls.completedAt
}
