import Database from 'libsql'
import { toDocument } from '../../src/calls/document.ts'
import { mergeCall } from '../../src/calls/merge.ts'
import type { CallChange } from '../../src/calls/schemas.ts'

/**
 * Inserts new calls directly into the tables. Drops their indexes first and creates them again afterwards, so that a
 * million calls take one minute instead of several. The triggers that count calls stay, and the index that they read.
 */
export function loadCalls(
  file: string,
  projectId: number,
  calls: Iterable<{ id: string; change: CallChange }>,
): void {
  const db = new Database(file)
  const indexes = asIndexes(
    db
      .prepare(
        `select name, sql from sqlite_master where tbl_name = 'calls' and type = 'index' and name <> 'calls_at_a_glance'`,
      )
      .all(),
  )
  db.exec('begin immediate')
  for (const { name } of indexes) db.exec(`drop index ${name}`)
  insertAll(db, projectId, calls)
  for (const { sql } of indexes) db.exec(sql)
  db.exec(`
    update projects set change_seq = (select count(*) from calls where project_id = ${projectId}) where id = ${projectId};
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
    values (?, ${projectId}, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`)
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
      seq,
    )
    insertDocument.run(seq, document)
  }
}

/** Rows have the columns that the statement names. */
function asIndexes(rows: unknown[]): { name: string; sql: string }[] {
  return rows as { name: string; sql: string }[]
}
