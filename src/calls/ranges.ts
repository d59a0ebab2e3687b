import { type SQL, sql } from 'drizzle-orm'
import { callRanges } from '../db/schema.ts'
import type { WriteDatabase } from '../db/writer.ts'

const msOfDay = 86_400_000

/** How many calls a project has. Cheap, since it has few of the widest ranges. */
export function callCount(projectId: SQL): SQL<number> {
  return sql<number>`(select sum(calls) from ${callRanges} where project_id = ${projectId} and level = 3)`
}

/**
 * Selects where the page at an offset begins, as `created_at`, `id` and how many calls to `skip` from there; nothing
 * past the last call. Each level of the tree narrows the place:
 * https://www.chiark.greenend.org.uk/~sgtatham/algorithms/cbtree.html
 */
export function pageStart(projectId: SQL, offset: SQL): SQL {
  const descend = (level: number, from: SQL) => sql`
    select created_at, id, (select skip from ${from}) - through + calls as skip from (
      select created_at, id, calls, sum(calls) over (order by created_at desc, id desc rows unbounded preceding) as through
      from ${callRanges} where project_id = ${projectId} and level = ${sql.raw(`${level}`)}
        and (created_at, id) <= (select +created_at, +id from ${from}))
    where through > (select skip from ${from}) limit 1`
  return sql`with
    newest as (select ${sql.raw(`${Number.MAX_SAFE_INTEGER}`)} as created_at, '' as id, ${offset} as skip),
    wide as (${descend(3, sql`newest`)}),
    narrow as (${descend(2, sql`wide`)})
    ${descend(1, sql`narrow`)}`
}

/**
 * Selects `day` (since 1970), `calls`, `success`, `fail` and `unevaluated`, from ranges that lie within one day of the
 * period and from the single calls of all others.
 * @param ahead by how many milliseconds local time is ahead of UTC
 */
export function countsByDay(
  projectId: number,
  { from, to, ahead }: { from: number; to: number; ahead: number },
): SQL {
  // Not a parameter, which would be a float and make the days floats.
  const day = (at: string) => sql.raw(`(${at} + ${Math.trunc(ahead)}) / ${msOfDay}`)
  const isWhole = sql`older_created_at >= ${from} and created_at < ${to}
    and ${day('older_created_at')} = ${day('created_at')}`
  return sql`
    with range as (
      select *, lead(created_at, 1, -1) over newest_first as older_created_at, lead(id, 1, '') over newest_first as older_id
      from ${callRanges} where project_id = ${projectId} and level = 1
      window newest_first as (order by created_at desc, id desc))
    select ${day('created_at')} as day, calls, success, fail, unevaluated from range where ${isWhole}
    union all
    select ${day('call.created_at')}, 1, evaluation is 'success', evaluation is 'fail', evaluation is null
    from (select * from range where created_at >= ${from} and older_created_at < ${to} and not (${isWhole})) as range
      cross join calls as call indexed by calls_at_a_glance on call.project_id = ${projectId}
        and (call.created_at, call.id) <= (+range.created_at, +range.id)
        and (call.created_at, call.id) > (+older_created_at, +older_id)
    where +call.created_at >= ${from} and +call.created_at < ${to}`
}

const isInRange = `(created_at, id) <= (+range.created_at, +range.id)
  and (created_at, id) > (+older_created_at, +older_id)`

/** Selects the `project_id` of each project whose ranges do not match its calls. */
export const wrongRanges = `
  select distinct project_id from (
    select *, lead(created_at, 1, -1) over older as older_created_at, lead(id, 1, '') over older as older_id
    from call_ranges window older as (partition by project_id, level order by created_at desc, id desc)) as range
  where case level
    when 1 then (calls, success, fail, unevaluated) is not (
      select count(*), count(*) filter (where evaluation is 'success'), count(*) filter (where evaluation is 'fail'),
        count(*) filter (where evaluation is null)
      from calls as call indexed by calls_at_a_glance where call.project_id = range.project_id and ${isInRange})
    else calls is not (select coalesce(sum(narrow.calls), 0) from call_ranges as narrow
      where narrow.project_id = range.project_id and narrow.level = range.level - 1 and ${isInRange}) end`

/** Rebuilds a project's ranges from its calls. */
export async function recount(write: WriteDatabase, projectId: number): Promise<void> {
  const ranges = sql`${callRanges} where project_id = ${projectId}`
  const newest = sql.raw(`${Number.MAX_SAFE_INTEGER}`)
  const single = sql`select created_at, id, 1 as calls, evaluation is 'success' as success, evaluation is 'fail' as fail,
      evaluation is null as unevaluated from calls indexed by calls_at_a_glance where project_id = ${projectId}
    union all select ${newest}, '', 0, 0, 0, 0`
  const narrower = (level: number) =>
    sql`select created_at, id, calls, 0 as success, 0 as fail, 0 as unevaluated from ${ranges} and level = ${level - 1}`
  // Oldest first: a new range takes its calls from the next newer one, which must not exist yet.
  const made = [1, 2, 3].map((level) => {
    const size = sql.raw(level === 1 ? '192' : '12')
    return sql`insert into ${callRanges}
      select ${projectId}, ${level}, created_at, id, calls, success, fail, unevaluated from (
        select created_at, id, place, sum(calls) over part as calls, sum(success) over part as success,
          sum(fail) over part as fail, sum(unevaluated) over part as unevaluated
        from (select *, row_number() over (order by created_at, id) - 1 as place
          from (${level === 1 ? single : narrower(level)}))
        window part as (partition by place / ${size} order by created_at, id))
      where (place + 1) % ${size} = 0 or created_at = ${newest} order by created_at, id`
  })
  await write.batch([
    // Deleting a range adds its calls to the next newer one.
    write.run(sql`update ${callRanges} set calls = 0 where project_id = ${projectId}`),
    write.run(sql`delete from ${ranges}`),
    ...made.map((statement) => write.run(statement)),
  ])
}
