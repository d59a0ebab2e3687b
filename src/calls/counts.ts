import { type SQL, sql } from 'drizzle-orm'
import { callCounts, calls, projects } from '../db/schema.ts'
import type { WriteDatabase } from '../db/writer.ts'

/** Milliseconds since 1970: `from` is included, `to` is not. */
export type Period = Record<'from' | 'to', number>

/** What is counted for each UTC day; for the filters among them, also for all time. */
export type CountedName = 'endedReason' | 'source' | 'agentId' | 'duration'

const quarterMs = 900_000
export const dayMs = 86_400_000
/** `until` of what is counted for all time. */
const allTime = sql.raw(`${Number.MAX_SAFE_INTEGER}`)

/**
 * Selects `until`, `calls`, `success`, `fail`, `unevaluated` and `engaged` of each quarter of an hour of a period. The
 * offset of every time zone is a multiple of it.
 */
export function countsByQuarter(projectId: number, period: Period): SQL {
  return countsIn(projectId, '', period, quarterMs)
}

/** Selects the same and `value` for each value on each UTC day of a period. */
export function countsByValue(projectId: number, name: CountedName, period: Period): SQL {
  return countsIn(projectId, name, period, dayMs)
}

/** Selects `value` and `calls` for each value of a filter. */
export function countsOfAllTime(
  projectId: number,
  name: 'evaluation' | Exclude<CountedName, 'duration'>,
): SQL {
  return sql`select value, calls from ${callCounts}
    where project_id = ${projectId} and until = ${allTime} and name = ${name}`
}

/** Where the period begins or ends within a counted one, single calls are counted. */
function countsIn(projectId: number, name: string, { from, to }: Period, ms: number): SQL {
  const first = Math.min(Math.ceil(from / ms) * ms, to)
  const last = Math.max(Math.floor(to / ms) * ms, first)
  const single = (start: number, end: number) => sql`
    union all select until, value, 1, evaluation is 'success', evaluation is 'fail', evaluation is null, is_engaged
    from counted_calls where project_id = ${projectId} and name = ${name} and until < ${allTime}
      and created_at >= ${start} and created_at < ${end}`
  return sql`select until, value, calls, success, fail, unevaluated, engaged from ${callCounts}
    where project_id = ${projectId} and until > ${first} and until <= ${last} and name = ${name}
    ${from < first ? single(from, first) : sql``} ${last < to ? single(last, to) : sql``}`
}

const counted = `project_id, until, name, value, count(*) as calls, sum(evaluation is 'success') as success,
  sum(evaluation is 'fail') as fail, sum(evaluation is null) as unevaluated, sum(is_engaged) as engaged
  from counted_calls`
const key = 'project_id, until, name, value'

/** Selects the `project_id` of each project whose counts do not match its calls. */
export const wrongCounts = `
  select id as project_id from projects where calls <> (select count(*) from calls where project_id = projects.id)
  union select project_id from (
    select * from call_counts union all select ${counted} group by ${key})
  group by ${key}, calls, success, fail, unevaluated, engaged having count(*) <> 2`

/** Counts a project's calls again. */
export async function recount(write: WriteDatabase, projectId: number): Promise<void> {
  const count = sql`(select count(*) from ${calls} where project_id = ${projectId})`
  await write.batch([
    write.run(sql`update ${projects} set calls = ${count} where id = ${projectId}`),
    write.run(sql`delete from ${callCounts} where project_id = ${projectId}`),
    write.run(
      sql`insert into ${callCounts} select ${sql.raw(counted)} where project_id = ${projectId} group by ${sql.raw(key)}`,
    ),
  ])
}
