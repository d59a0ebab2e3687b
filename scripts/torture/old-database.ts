import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'libsql'
import { repository } from '../repository.ts'

/** What a database of an older version holds: a call, and the key that opens it. */
export const oldRecords = {
  key: `ck_live_${'0123456789ab'.repeat(5)}`,
  callId: 'old',
  call: '{"id":"old","summary":"from an older version"}',
}

interface Journal {
  entries: { tag: string; when: number }[]
}

/** How many migrations there are. */
export function countMigrations(): number {
  return readJournal().entries.length
}

/** Writes a database as a version left it that had the first migrations only. */
export function writeOldDatabase(file: string, applied: number): void {
  const { key, call } = oldRecords
  writeFileSync(file, '', { mode: 0o600 })
  const database = new Database(file)
  database.exec('pragma journal_mode = wal')
  database.exec(
    'create table __drizzle_migrations (id serial primary key, hash text not null, created_at numeric)',
  )
  for (const { tag, when } of readJournal().entries.slice(0, applied)) {
    const sql = readFileSync(join(repository, 'src/db/migrations', `${tag}.sql`), 'utf8')
    for (const statement of sql.split('--> statement-breakpoint')) database.exec(statement)
    const hash = createHash('sha256').update(sql).digest('hex')
    database.prepare('insert into __drizzle_migrations (hash, created_at) values (?, ?)').run(hash, when)
  }
  database.exec(`
    insert into projects (id, public_id, name, created_at) values (1, 'prj_old', 'old', 1);
    insert into keys (id, project_id, kind, name, hash, hint, allowed_ips, created_at)
      values ('key_old', 1, 'live', 'old', '${createHash('sha256').update(key).digest('hex')}', '89ab', '[]', 1);
    insert into calls (project_id, id, created_at, updated_at, status, is_engaged, duration, document_chars, change_seq)
      values (1, 'old', 1, 1, 'live', 0, 0, ${call.length}, 1);
    insert into call_documents (seq, document) values (1, '${call}');
    create virtual table chunk_words_1 using fts5(heading, text, content='', contentless_delete=1);
    create virtual table call_words_1 using fts5(words, content='', contentless_delete=1);`)
  database.close()
}

function readJournal(): Journal {
  return JSON.parse(readFileSync(join(repository, 'src/db/migrations/meta/_journal.json'), 'utf8'))
}
