import { type SQL, sql } from 'drizzle-orm'
import { webhookAttempts } from '../db/schema.ts'

// How the answers to failed attempts begin. They help to find out what an endpoint refuses, and may repeat what was sent.

/** How many answers of an endpoint are kept, the newest ones. */
const answersKeptMax = 200
/** No fewer than are recorded at once. */
const attemptsPerBatchMax = 500
/** How long answers are kept. */
export const answersKeptMs = 7 * 24 * 3_600_000

/** Whether an attempt's answer may be kept: its record is still there, and an item still has the text that was sent. */
export const mayKeepAnswer = sql`(case value ->> 'kind'
  when 'call' then exists (select 1 from calls where calls.seq = value ->> 'record')
  when 'item' then exists (select 1 from knowledge_items as items
    where items.seq = value ->> 'record' and items.change_seq = value ->> 'seq')
  when 'alert' then exists (select 1 from alerts where alerts.seq = json_each.value ->> 'record')
  else true end)`

/** The statement that forgets all but the newest answers of endpoints. */
export function forgetAnswersBeyond(webhookIds: readonly string[]): SQL[] {
  return webhookIds.map(
    (id) => sql`
      update ${webhookAttempts} set answer = null where answer is not null and id in (
        select id from ${webhookAttempts} where webhook_id = ${id} and coalesce(status, 0) not between 200 and 299
        order by id desc limit ${attemptsPerBatchMax} offset ${answersKeptMax})`,
  )
}
