import { type SQL, sql } from 'drizzle-orm'
import type { ReadDatabase } from '../db/reader.ts'
import { projects, webhookQueue, webhooks } from '../db/schema.ts'
import type { WriteDatabase } from '../db/write-database.ts'
import type { WebhookEvent } from './events.ts'

const changesPerPageMax = 1_000

interface Replay {
  read: ReadDatabase
  write: WriteDatabase
  projectId: number
  webhookId: string
  /** Changes with higher numbers are sent again. */
  after: number
}

/**
 * Queues each changed record once, as the most informative event that the endpoint takes.
 * @returns how many were queued
 */
export async function queueChanges({ read, write, projectId, webhookId, after }: Replay): Promise<number> {
  const [project] = await read.all<{ newest: number }>(
    sql`select change_seq as newest from ${projects} where id = ${projectId}`,
  )
  // Later changes are queued by themselves.
  const newest = project?.newest ?? 0
  let queued = 0
  for (let from = after; from < newest; ) {
    const [page] = await read.all<{ last: number }>(endOfPage(projectId, from, newest))
    const last = page?.last ?? newest
    const rows = await write.all(sql`
      insert into ${webhookQueue} (webhook_id, kind, record, ref, event, seq, at)
      select webhooks.id, changes.kind, changes.record, changes.ref, ${chosenEvent}, changes.seq, changes.at
      from (${changes(projectId, from, last)}) as changes cross join ${webhooks} on webhooks.id = ${webhookId}
      where disabled_at is null and ${chosenEvent} is not null order by changes.seq returning id`)
    queued += rows.length
    from = last
  }
  return queued
}

/** The change number where the page ends: up to it, no table has more than a page of changes. */
function endOfPage(projectId: number, after: number, newest: number): SQL {
  const end = (table: string) => sql`
    coalesce((
      select change_seq from ${sql.raw(table)}
      where project_id = ${projectId} and change_seq > ${after} and change_seq <= ${newest}
      order by change_seq limit 1 offset ${changesPerPageMax - 1}), ${newest})`
  return sql`select min(${end('calls')}, ${end('knowledge_items')}, ${end('erasures')}) as last`
}

/** A project's changes in a range of change numbers. `state` is a call's status, or what happened to the record. */
function changes(projectId: number, after: number, last: number): SQL {
  const isWithin = sql`project_id = ${projectId} and change_seq > ${after} and change_seq <= ${last}`
  return sql`
    select 'call' as kind, seq as record, null as ref, status as state, change_seq as seq, updated_at as at
      from calls where ${isWithin}
    union all select 'item', seq, null, 'changed', change_seq, updated_at from knowledge_items where ${isWithin}
    union all select kind, record, id_hash, 'deleted', change_seq, requested_at from erasures where ${isWithin}`
}

const isChangedItem = "changes.kind = 'item' and state = 'changed'"
const isCall = "changes.kind = 'call' and state <> 'deleted'"

/**
 * Of which changes an event tells, in SQL; null for an event that is not sent again. Of those that an endpoint takes,
 * the first is sent.
 */
const conditions: Record<WebhookEvent, string | null> = {
  'call.deleted': "changes.kind = 'call' and state = 'deleted'",
  'knowledge.deleted': "changes.kind = 'item' and state = 'deleted'",
  'knowledge.changed': isChangedItem,
  'knowledge.ready': isChangedItem,
  'call.completed': "state = 'completed'",
  'call.changed': isCall,
  'call.started': isCall,
  // Changes no record: who asked for the erasure asks for its receipt.
  'erasure.done': null,
  // What an analysis finds out is in the call, of which the other events tell.
  'call.analyzed': null,
  // Tells of a moment that is over.
  'alert.changed': null,
}

const choices = Object.entries(conditions).map(([event, condition]) =>
  condition === null ? '' : `when ${condition} and instr(events, '"${event}"') > 0 then '${event}'`,
)
const chosenEvent = sql.raw(`case ${choices.join(' ')} end`)
