import { type SQL, sql } from 'drizzle-orm'
import type { ReadDatabase } from '../../db/reader.ts'
import { calls, projects } from '../../db/schema.ts'
import type { WriteDatabase } from '../../db/write-database.ts'

/** Milliseconds since 1970: `from` is included, `to` is not. */
export type Period = Record<'from' | 'to', number>

export const dayMs = 86_400_000
/** Until the year 10000: no call is created later. */
export const allTime = { from: 0, to: Date.UTC(10_000, 0, 1) }

/** To read so many calls from their index takes less than 20 ms. */
const callsPerSlice = 20_000
/** How many slices are cut at once, which takes a millisecond. */
const endsMax = 8

interface Cut {
  column?: 'created_at' | 'completed_at'
  callsMax?: number
}

/** Cuts a period into parts of so many calls of the project, and those of the same time as the first. */
export async function* cutPeriod(
  db: ReadDatabase,
  projectId: number,
  { from: first, to }: Period,
  { column = 'created_at', callsMax = callsPerSlice }: Cut = {},
): AsyncGenerator<Period> {
  const time = sql.raw(column)
  for (let from = first; ; ) {
    const next = sql`select ${time} from calls indexed by ${sql.raw(`calls_by_${column}`)}
      where project_id = ${projectId} and ${time} > ends.at and ${time} < ${to}
      order by ${time} limit 1 offset ${callsMax}`
    const ends = await db.select({ at: sql<number>`at` }).from(sql`(
      with recursive ends (at) as (
        select ${from} union all select (${next}) from ends where at is not null limit ${endsMax + 1})
      select at from ends where at is not null)`)
    for (const { at } of ends.slice(1)) {
      yield { from, to: at }
      from = at
    }
    if (ends.length <= endsMax) return yield { from, to }
  }
}

/** How many calls there are, and how they ended. */
export interface Counts {
  calls: number
  success: number
  fail: number
  unevaluated: number
  engaged: number
}

const noCalls: Counts = { calls: 0, success: 0, fail: 0, unevaluated: 0, engaged: 0 }

/**
 * Counts the calls of a period by a value, which is null for all of them without one.
 * @param value of columns that `calls_by_created_at` has: it alone is read, in slices
 * @param where which calls are counted
 */
export async function countBy<Value extends string | number | null>(
  db: ReadDatabase,
  projectId: number,
  value: SQL<Value> | undefined,
  period: Period,
  where: SQL = sql`true`,
): Promise<Map<Value | null, Counts>> {
  const counted = new Map<Value | null, Counts>()
  for await (const { from, to } of cutPeriod(db, projectId, period)) {
    const rows = db
      .select({
        value: sql<Value | null>`${value ?? sql`null`} as value`,
        calls: sql<number>`count(*)`,
        success: sql<number>`total(evaluation = 'success')`,
        fail: sql<number>`total(evaluation = 'fail')`,
        unevaluated: sql<number>`total(evaluation is null)`,
        engaged: sql<number>`total(is_engaged)`,
      })
      .from(sql`calls indexed by calls_by_created_at`)
      .where(sql`project_id = ${projectId} and created_at >= ${from} and created_at < ${to} and ${where}`)
    // Even by null, SQLite would sort the calls.
    for (const { value: name, ...row } of await (value ? rows.groupBy(sql`value`) : rows)) {
      const before = counted.get(name) ?? noCalls
      if (row.calls > 0) counted.set(name, sumOf(before, row))
    }
  }
  return counted
}

function sumOf(a: Counts, b: Counts): Counts {
  return {
    calls: a.calls + b.calls,
    success: a.success + b.success,
    fail: a.fail + b.fail,
    unevaluated: a.unevaluated + b.unevaluated,
    engaged: a.engaged + b.engaged,
  }
}

/** Selects the `project_id` of each project whose total does not match its calls. */
export const wrongTotals =
  'select id as project_id from projects where calls <> (select count(*) from calls where project_id = projects.id)'

/** Counts a project's calls again. */
export async function recount(write: WriteDatabase, projectId: number): Promise<void> {
  await write.run(sql`
    update ${projects} set calls = (select count(*) from ${calls} where project_id = ${projectId}) where id = ${projectId}`)
}
