import { type SQL, sql } from 'drizzle-orm'
import type { ReadDatabase } from '../../db/reader.ts'
import { callCounts, calls, projects } from '../../db/schema.ts'
import type { WriteDatabase } from '../../db/write-database.ts'

/** Milliseconds since 1970: `from` is included, `to` is not. */
export type Period = Record<'from' | 'to', number>

/** What is counted for each UTC day; for the filters among them, also for all time. */
export type CountedName = 'endedReason' | 'source' | 'agentId' | 'duration'

export const quarterMs = 900_000
export const dayMs = 86_400_000
/** Until the year 10000: no call is created later. */
export const allTime = { from: 0, to: Date.UTC(10_000, 0, 1) }
/** `until` of what is counted for all time. */
const untilAllTime = sql.raw(`${Number.MAX_SAFE_INTEGER}`)

/**
 * Selects `until`, `calls`, `success`, `fail`, `unevaluated` and `engaged` of each quarter of an hour of a period. The
 * offset of every time zone is a multiple of it.
 */
export function countsByQuarter(projectId: number, period: Period): SQL {
  return countsIn(projectId, '', period, quarterMs)
}

/** Selects the same of every quarter of an hour. */
export function countsOfQuarters(projectId: number): SQL {
  return sql`select until, calls, success, fail, unevaluated, engaged from ${callCounts}
    where project_id = ${projectId} and name = ''`
}

/** Selects the same and `value` for each value on each UTC day of a period. */
export function countsByValue(projectId: number, name: CountedName, period: Period): SQL {
  return countsIn(projectId, name, period, dayMs)
}

export interface DayCount {
  /** Of UTC, by its number since 1970. */
  day: number
  calls: number
}

/** How many calls each day has that a period touches. */
export async function callsByDay(
  db: ReadDatabase,
  projectId: number,
  { from, to }: Period,
): Promise<DayCount[]> {
  // Each call has one source, or none.
  return await db
    .select({ day: sql<number>`until / ${sql.raw(`${dayMs}`)} - 1`, calls: sql<number>`sum(calls)` })
    .from(callCounts)
    .where(sql`project_id = ${projectId} and until > ${from} and until < ${to + dayMs} and name = 'source'`)
    .groupBy(callCounts.until)
}

/** Selects `value` and `calls` for each value of a filter. */
export function countsOfAllTime(
  projectId: number,
  name: 'evaluation' | Exclude<CountedName, 'duration'>,
): SQL {
  return sql`select value, calls from ${callCounts}
    where project_id = ${projectId} and until = ${untilAllTime} and name = ${name}`
}

/** Values of a filter, as JSON. */
export interface Counted {
  name: string
  values: readonly string[]
}

/**
 * How many calls have one of some values, for each list of them, and whether call_values has all of these calls: it has
 * the first calls with a value, until more than 1,000 and a hundredth of all calls have it.
 */
export async function countAny(
  db: ReadDatabase,
  projectId: number,
  lists: readonly Counted[],
): Promise<{ calls: number; areFew: boolean }[]> {
  if (lists.length === 0) return []
  const wanted = lists.map(({ name, values }) => values.map((value) => [name, value]))
  const rows = await db
    .select({ at: sql<number>`list.key`, calls: sql<number>`sum(calls)`, areFew: sql<number>`min(is_few)` })
    .from(sql`json_each(${JSON.stringify(wanted)}) as list cross join json_each(list.value) as one
      cross join ${callCounts} on project_id = ${projectId} and until = ${untilAllTime}
        and name = one.value ->> 0 and call_counts.value = one.value ->> 1`)
    .groupBy(sql`list.key`)
  const found = new Map(rows.map(({ at, calls, areFew }) => [at, { calls, areFew: areFew === 1 }]))
  return lists.map((_, at) => found.get(at) ?? { calls: 0, areFew: true })
}

/** Where the period begins or ends within a counted one, single calls are counted. */
function countsIn(projectId: number, name: string, { from, to }: Period, ms: number): SQL {
  const first = Math.min(Math.ceil(from / ms) * ms, to)
  const last = Math.max(Math.floor(to / ms) * ms, first)
  const single = (start: number, end: number) => sql`
    union all select until, value, 1, evaluation is 'success', evaluation is 'fail', evaluation is null, is_engaged
    from counted_calls where project_id = ${projectId} and name = ${name} and until < ${untilAllTime}
      and created_at >= ${start} and created_at < ${end}`
  return sql`select until, value, calls, success, fail, unevaluated, engaged from ${callCounts}
    where project_id = ${projectId} and until > ${first} and until <= ${last} and name = ${name}
    ${from < first ? single(from, first) : sql``} ${last < to ? single(last, to) : sql``}`
}

const counted = `project_id, until, name, value, count(*) as calls, sum(evaluation is 'success') as success,
  sum(evaluation is 'fail') as fail, sum(evaluation is null) as unevaluated, sum(is_engaged) as engaged`
const key = 'project_id, until, name, value'

/** Selects the `project_id` of each project whose counts do not match its calls. */
export const wrongCounts = `
  select id as project_id from projects where calls <> (select count(*) from calls where project_id = projects.id)
  union select project_id from (
    select ${key}, calls, success, fail, unevaluated, engaged from call_counts
    union all select ${counted} from counted_calls group by ${key})
  group by ${key}, calls, success, fail, unevaluated, engaged having count(*) <> 2`

/** Counts a project's calls again. A count that was missing is not one of few, since call_values may lack its calls. */
export async function recount(write: WriteDatabase, projectId: number): Promise<void> {
  const ofProject = sql`project_id = ${projectId}`
  await write.batch({
    total: sql`update ${projects} set calls = (select count(*) from ${calls} where ${ofProject}) where id = ${projectId}`,
    emptied: sql`update ${callCounts} set calls = -1 where ${ofProject}`,
    counted: sql`
      insert into ${callCounts} select ${sql.raw(counted)}, false from counted_calls where ${ofProject}
      group by ${sql.raw(key)} on conflict do update set calls = excluded.calls, success = excluded.success,
        fail = excluded.fail, unevaluated = excluded.unevaluated, engaged = excluded.engaged`,
    empty: sql`delete from ${callCounts} where ${ofProject} and calls = -1`,
  })
}
