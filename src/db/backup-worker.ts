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

/** Merges the keyword indexes of projects whose latest deletions are not erased yet, which drops deleted words. */
function dropDeletedWords(connection: Database.Database): void {
  const open = column(connection, 'select distinct project_id from erasures where done_at is null').map(
    Number,
  )
  if (open.length === 0) return
  const named = column(connection, "select name from sqlite_master where sql like '%using fts5%'").map(String)
  for (const name of named) {
    if (open.some((id) => name.endsWith(`_${id}`)))
      connection.exec(`insert into "${name}" ("${name}") values ('optimize')`)
  }
  connection.exec('vacuum')
}

function column(connection: Database.Database, sql: string): unknown[] {
  return connection.prepare(sql).pluck().all()
}
