import { type SQL, sql } from 'drizzle-orm'
import type { RecordHash } from './record-hash.ts'
import { erasures, projects } from './schema.ts'

interface Parts {
  recordHash: RecordHash
  now: () => number
}

/** What loses bytes again and again under one id. */
interface Erased {
  projectId: number
  kind: 'source' | 'webhook' | 'questions'
  id: string
}

/**
 * The statement that has the bytes erased of what the same batch deletes of a source, a webhook or a project's
 * questions. A run that is under way must not take the later deletion for its own, so each has another number.
 */
export function erasing(
  { recordHash, now }: Parts,
  { projectId, kind, id }: Erased,
  condition = sql`true`,
): SQL {
  return sql`
    insert into ${erasures} (project_id, kind, id_hash, record, change_seq, requested_at)
    select ${projectId}, ${kind}, ${recordHash(projectId, kind, id)}, 0, change_seq, ${now()}
    from ${projects} where id = ${projectId} and ${condition}
    on conflict (project_id, kind, id_hash) do update set change_seq = change_seq + 1,
      requested_at = excluded.requested_at, done_at = null`
}
