import { sql } from 'drizzle-orm'
import { LRUCache } from 'lru-cache'
import type { ReadDatabase } from '../db/reader.ts'
import { preparedQueries } from '../db/store.ts'

const projectsCachedMax = 1_000
const msPerDay = 86_400_000

/** A project's calls per UTC day, newest day first, as they were at one number of its changes. */
interface Counts {
  changeSeq: number
  /** `through`: calls of this day and of all newer ones. */
  days: [day: number, through: number][]
}

const queries = preparedQueries((db) => {
  const project = sql.placeholder('projectId')
  const newestFirst = sql`(select day, sum(calls) over (order by day desc) as through
    from calls_by_day where project_id = ${project} order by day desc)`
  return {
    counts: db
      .select({
        changeSeq: sql<number>`change_seq`,
        days: sql<string>`(select json_group_array(json_array(day, through)) from ${newestFirst})`,
      })
      .from(sql`projects`)
      .where(sql`id = ${project}`)
      .prepare(),
  }
})

/** Finds the day of the call at an offset. A project's counts are cached until something changes in it. */
export class DayCounts {
  readonly #counts = new LRUCache<number, Counts>({ max: projectsCachedMax })
  readonly #db: ReadDatabase

  constructor(db: ReadDatabase) {
    this.#db = db
  }

  /** Where the call at `offset` is, and the change number of the project for which that holds. */
  async locate(projectId: number, offset: number) {
    const { days, changeSeq } = this.#counts.get(projectId) ?? (await this.#load(projectId))
    const position = days.findIndex(([, through]) => through > offset)
    // Past the last call no day is found, and no call is before the first one.
    const [day = -1] = days[position] ?? []
    const [, newer = 0] = days[position - 1] ?? []
    return { start: { before: (day + 1) * msPerDay, skip: offset - newer }, changeSeq }
  }

  forget(projectId: number): void {
    this.#counts.delete(projectId)
  }

  async #load(projectId: number): Promise<Counts> {
    const row = await queries(this.#db).counts.get({ projectId })
    const counts: Counts = { changeSeq: row?.changeSeq ?? 0, days: JSON.parse(row?.days ?? '[]') }
    this.#counts.set(projectId, counts)
    return counts
  }
}
