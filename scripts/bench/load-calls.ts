import Database from 'libsql'
import { toHead, writtenColumns } from '../../src/calls/call-head.ts'
import { toDocument } from '../../src/calls/document.ts'
import { CallWords } from '../../src/calls/finding/call-words.ts'
import type { CallChange } from '../../src/calls/schemas.ts'
import { mergeCall } from '../../src/calls/writing/merge.ts'
import { segmentOf } from '../../src/db/word-segments.ts'

/**
 * Inserts new calls directly into the tables. Drops their indexes first and creates them again afterwards, so that a
 * million calls take minutes less. The triggers that count calls stay.
 * @param hasWords whether the calls are found by their words, which takes longer
 */
export function loadCalls(
  file: string,
  projectId: number,
  calls: Iterable<{ id: string; change: CallChange }>,
  { hasWords = false } = {},
): void {
  const db = new Database(file)
  // As the service writes: otherwise copies of moved cells stay, which nothing erases.
  db.exec('pragma secure_delete = on')
  const indexes = asIndexes(
    db.prepare(`select name, sql from sqlite_master where tbl_name = 'calls' and type = 'index'`).all(),
  )
  db.exec('begin immediate')
  for (const { name } of indexes) db.exec(`drop index ${name}`)
  insertAll(db, projectId, calls, hasWords)
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
  hasWords: boolean,
): void {
  const columns = Object.entries(writtenColumns)
  const insertHead = db.prepare(`
    insert into calls (seq, project_id, id, created_at, change_seq, ${columns.map(([, { name }]) => name)})
    values (?, ${projectId}, ?, ?, ?, ${columns.map(() => '?')})`)
  const insertDocument = db.prepare(
    'insert into call_documents (seq, call_change_seq, document) values (?, ?, ?)',
  )
  const words = new CallWords()
  const segments: Database.Statement[] = []
  const segmentFor = (number: number) => {
    db.exec(`create virtual table if not exists call_words_${number} using fts5(
      words, content='', contentless_delete=1, detail=none, tokenize='ascii')`)
    db.exec(`insert into call_segments (project_id, segment) values (${projectId}, ${number})`)
    return db.prepare(`insert into call_words_${number} (rowid, words) values (?, ?)`)
  }
  let seq = 0
  for (const { id, change } of calls) {
    const { call, ...unserved } = mergeCall(null, id, change, 0)
    const document = toDocument(call)
    const head: Record<string, string | number | boolean | null> = toHead({ ...unserved, call, document })
    seq++
    const values = columns.map(([name]) => head[name] ?? null)
    insertHead.run([seq, id, Date.parse(call.createdAt), seq, ...values.map((value) => toStored(value))])
    insertDocument.run(seq, seq, document)
    if (!hasWords) continue
    const number = segmentOf(seq)
    segments[number] ??= segmentFor(number)
    segments[number].run(seq, words.of(call).trimEnd().replaceAll(' ', ` ${projectId}x`))
  }
}

function toStored(value: string | number | boolean | null): string | number | null {
  return typeof value === 'boolean' ? Number(value) : value
}

/** Rows have the columns that the statement names. */
function asIndexes(rows: unknown[]): { name: string; sql: string }[] {
  return rows as { name: string; sql: string }[]
}
