import { sql } from 'drizzle-orm'
import type { ReadDatabase } from '../db/reader.ts'

/** Rows beyond this many are not counted. */
const countedMax = 100_000

export type Backlog = Awaited<ReturnType<typeof readBacklog>>

/** What waits, fails or is late, of all projects. */
export async function readBacklog(db: ReadDatabase, { lateBefore }: { lateBefore: number }) {
  const count = (rows: ReturnType<typeof sql>) =>
    sql<number>`(select count(*) from (select 1 from ${rows} limit ${sql.raw(`${countedMax}`)}))`
  const [counts] = await db
    .select({
      webhookEvents: count(sql`webhook_queue where not is_sent`),
      webhooksFailing: count(sql`webhooks where failures > 0 and disabled_at is null`),
      webhooksSwitchedOff: count(sql`webhooks where disabled_reason is not null`),
      unreadableEvents: count(sql`source_failures`),
      analysesPaused: count(
        sql`analysis_pauses where reason <> 'budget' and project_id in (select project_id from analysis_queue)`,
      ),
      erasures: count(sql`erasures where done_at is null`),
      lateErasures: count(sql`erasures where done_at is null and requested_at < ${lateBefore}`),
    })
    .from(sql`(select 1)`)
  if (!counts) throw new Error('Nothing was counted')
  return counts
}
