import { type SQL, sql } from 'drizzle-orm'
import type { RecordHash } from './record-hash.ts'
import { erasures, projects } from './schema.ts'

interface Parts {
  recordHash: RecordHash
  now: () => number
}

/** A record that is erased repeatedly under one id. */
interface Erased {
  projectId: number
  kind: 'recording' | 'source' | 'webhook' | 'questions' | 'cases' | 'sessions'
  id: string
}

/**
 * The statement that requests the erasure of what the same batch deletes: a recording, or parts of a source, a webhook or
 * a project's questions, cases or voice sessions. Each request has a new number, so that a run already under way does not mark it as done.
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
