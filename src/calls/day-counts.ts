import { sql } from 'drizzle-orm'
import { LRUCache } from 'lru-cache'
import type { ReadDatabase } from '../db/reader.ts'
import { preparedQueries } from '../db/store.ts'

const projectsCachedMax = 1_000
const msPerDay = 86_400_000

/** A project's calls per UTC day, newest day first, as they were at one number of its changes. */
interface Counts {
  changeSeq: number
  days: number[]
  /** Calls of this day and of all newer ones. */
  through: number[]
}

const queries = preparedQueries((db) => {
  const project = sql.placeholder('projectId')
  const newestFirst = sql`(select day, calls from calls_by_day where project_id = ${project} order by day desc)`
  return {
    counts: db
      .select({
        changeSeq: sql<number>`change_seq`,
        days: sql<string>`(select json_group_array(day) from ${newestFirst})`,
        calls: sql<string>`(select json_group_array(calls) from ${newestFirst})`,
      })
      .from(sql`projects`)
      .where(sql`id = ${project}`)
      .prepare(),
  }
})

/** Finds the day in which the call at an offset lies. Kept per project for as long as nothing changes in it. */
export class DayCounts {
  readonly #counts = new LRUCache<number, Counts>({ max: projectsCachedMax })
  readonly #db: ReadDatabase

  constructor(db: ReadDatabase) {
    this.#db = db
  }

  /** Where the call at `offset` is, and the change number of the project for which that holds. */
  async locate(projectId: number, offset: number) {
    const counts = this.#counts.get(projectId) ?? (await this.#load(projectId))
    const found = counts.through.findIndex((through) => through > offset)
    const position = found < 0 ? counts.through.length : found
    const day = counts.days[position]
    const before = day === undefined ? 0 : (day + 1) * msPerDay
    return {
      start: { before, skip: offset - (counts.through[position - 1] ?? 0) },
      changeSeq: counts.changeSeq,
    }
  }

  forget(projectId: number): void {
    this.#counts.delete(projectId)
  }

  async #load(projectId: number): Promise<Counts> {
    const row = await queries(this.#db).counts.get({ projectId })
    const calls: number[] = JSON.parse(row?.calls ?? '[]')
    let sum = 0
    const through = calls.map((count) => {
      sum += count
      return sum
    })
    const counts = { changeSeq: row?.changeSeq ?? 0, days: JSON.parse(row?.days ?? '[]'), through }
    this.#counts.set(projectId, counts)
    return counts
  }
}
