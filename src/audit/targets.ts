import { type SQL, sql } from 'drizzle-orm'
import type { ReadDatabase } from '../db/reader.ts'
import type { RecordHash } from '../db/record-hash.ts'
import {
  alerts,
  calls,
  cases,
  erasureRequests,
  holds,
  keys,
  knowledgeItems,
  members,
  sources,
  webhooks,
} from '../db/schema.ts'
import { type AuditAction, type TargetKind, targetKinds } from './actions.ts'

/** What the target of an entry is, and where it is found. */
export interface AuditLink {
  kind: TargetKind
  /** The id of a call or an item in the API. */
  id: string
  /** The name of an item or an alert; null for others, which the entry's own target names. */
  name: string | null
}

interface Entry {
  action: AuditAction
  target: string | null
  targetRef: string | null
}

/** The keyed hash at the start of a target. */
const hashPattern = /^[0-9a-f]{64}/

/**
 * Looks up what the entries of a page are about. A row number alone names nothing, since a restore uses it again: the
 * record's keyed hash has to be that of the entry.
 */
export async function findTargets(
  read: ReadDatabase,
  { projectId, recordHash }: { projectId: number; recordHash: RecordHash },
  entries: readonly Entry[],
): Promise<(entry: Entry) => AuditLink | null> {
  const refs = [...new Set(entries.flatMap((entry) => entry.targetRef ?? []))]
  if (refs.length === 0) return () => null
  const targets = await read.all<AuditLink & { ref: string }>(sql`
    with refs as (select value as ref from json_each(${JSON.stringify(refs)}))
    select 'call' as kind, ref, id, null as name from refs cross join ${calls} on seq = cast(ref as integer)
      where project_id = ${projectId}
    union all select 'item', ref, id, name from refs cross join ${knowledgeItems} on seq = cast(ref as integer)
      where project_id = ${projectId}
    union all select 'alert', ref, id, rule ->> '$.name' from refs cross join ${alerts} on id = ref
      where project_id = ${projectId}
    union all select 'person', ref, person_id, null from refs cross join ${members} on person_id = ref
      where project_id = ${projectId}
    ${sql.join(
      Object.entries(tables).map(
        ([
          kind,
          table,
        ]) => sql`union all select ${kind}, ref, id, null from refs cross join ${table} on id = ref
          where project_id = ${projectId}`,
      ),
      sql` `,
    )}`)
  const links = new Map(targets.map(({ ref, ...link }) => [`${link.kind} ${ref}`, link]))
  return (entry) => {
    const kind = kindOf(entry)
    const link = links.get(`${kind} ${entry.targetRef}`)
    if (!link || (kind !== 'call' && kind !== 'item')) return link ?? null
    return entry.target?.startsWith(recordHash(projectId, kind, link.id)) ? link : null
  }
}

/** The row number of a call, which finds it while it exists. */
export function rowOfCall(projectId: number, id: string): SQL {
  return sql`(select seq from ${calls} where project_id = ${projectId} and id = ${id})`
}

const tables = {
  case: cases,
  erasure: erasureRequests,
  hold: holds,
  key: keys,
  source: sources,
  webhook: webhooks,
}

/** A hold on a call is about the call. */
function kindOf({ action, target }: Entry): TargetKind | null {
  // A newer process on the same database may record other actions.
  const kind: TargetKind | null | undefined = targetKinds[action]
  return kind === 'hold' && hashPattern.test(target ?? '') ? 'call' : (kind ?? null)
}
