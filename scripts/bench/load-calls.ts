import Database from 'libsql'
import { toDocument } from '../../src/calls/document.ts'
import { mergeCall } from '../../src/calls/merge.ts'
import type { CallChange } from '../../src/calls/schemas.ts'

/**
 * Inserts new calls directly into the tables. Drops their indexes and triggers first and creates them again
 * afterwards, so that a million calls take one minute instead of several.
 */
export function loadCalls(
  file: string,
  projectId: number,
  calls: Iterable<{ id: string; change: CallChange }>,
): void {
  const db = new Database(file)
  const derived = asDerived(
    db
      .prepare(
        `select type, name, sql from sqlite_master where tbl_name = 'calls' and type in ('index', 'trigger')`,
      )
      .all(),
  )
  db.exec('begin immediate')
  for (const { type, name } of derived) db.exec(`drop ${type} ${name}`)
  insertAll(db, projectId, calls)
  for (const { sql } of derived) db.exec(sql)
  db.exec(`
    insert into calls_by_day (project_id, day, calls)
      select project_id, created_at / 86400000, count(*) from calls where project_id = ${projectId} group by 1, 2;
    update projects set change_seq = 1, call_count = (select count(*) from calls where project_id = projects.id)
      where id = ${projectId};
    commit;
    pragma wal_checkpoint(truncate)`)
  db.close()
}

function insertAll(
  db: Database.Database,
  projectId: number,
  calls: Iterable<{ id: string; change: CallChange }>,
): void {
  const insertHead = db.prepare(`
    insert into calls (seq, project_id, id, created_at, updated_at, status, evaluation, is_engaged, duration,
      caller_number, called_number, ended_reason, document_chars, change_seq)
    values (?, ${projectId}, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1)`)
  const insertDocument = db.prepare('insert into call_documents (seq, document) values (?, ?)')
  let seq = 0
  for (const { id, change } of calls) {
    const { call } = mergeCall(null, id, change, 0)
    const document = toDocument(call)
    seq++
    insertHead.run(
      seq,
      id,
      Date.parse(call.createdAt),
      Date.parse(call.updatedAt),
      call.status,
      call.evaluation,
      call.isEngaged ? 1 : 0,
      call.duration,
      call.callerNumber,
      call.calledNumber,
      call.endedReason,
      document.length,
    )
    insertDocument.run(seq, document)
  }
}

/** Rows have the columns that the statement names. */
function asDerived(rows: unknown[]): { type: string; name: string; sql: string }[] {
  return rows as { type: string; name: string; sql: string }[]
}
