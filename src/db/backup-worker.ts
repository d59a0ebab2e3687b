import Database from 'libsql'
import { serve } from '../threads/serve.ts'
import { openReadOnly } from './read-only.ts'

const busyTimeoutMs = 10_000

/** Copies a database: SQLite does so in one call, which blocks its thread. */
const api = {
  /** Returns what the copy holds. */
  copy(source: string, target: string) {
    const connection = openReadOnly(source, busyTimeoutMs)
    try {
      // A snapshot without free pages. Others may read and write meanwhile.
      connection.prepare('vacuum into ?').run(target)
    } finally {
      connection.close()
    }
    return inspect(target)
  },
}

export type BackupApi = typeof api

serve(api)

function inspect(file: string) {
  const connection = new Database(file)
  try {
    dropDeletedWords(connection)
    const [line] = column(connection, 'pragma quick_check(1)')
    if (line !== 'ok') throw new Error(`The database is damaged: ${line}`)
    return {
      generation: String(column(connection, "select value from meta where name = 'generation'")[0] ?? ''),
      projects: Number(column(connection, 'select count(*) from projects')[0]),
      calls: Number(column(connection, 'select count(*) from calls')[0]),
      knowledgeItems: Number(column(connection, 'select count(*) from knowledge_items')[0]),
    }
  } finally {
    connection.close()
  }
}

/** Erases the words of records whose deletion is not erased yet, as erasure/word-erasure.ts does. */
function dropDeletedWords(connection: Database.Database): void {
  if (column(connection, 'select 1 from erasures where done_at is null limit 1').length === 0) return
  for (const name of column(connection, "select distinct kind || '_words_' || segment from word_removals")) {
    connection.exec(`
      delete from ${name} where rowid in (
        select record from word_removals where kind || '_words_' || segment = '${name}');
      insert into ${name} (${name}) values ('optimize')`)
  }
  connection.exec('vacuum')
}

function column(connection: Database.Database, sql: string): unknown[] {
  return connection.prepare(sql).pluck().all()
}
