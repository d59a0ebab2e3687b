import { parentPort, workerData } from 'node:worker_threads'
import Database from 'libsql'
import { endWorker } from '../end-worker.ts'

/** Copies a database on a thread of its own: SQLite does it in one call, during which nobody else has a turn. */

export interface CopyRequest {
  source: string
  target: string
}

/** What the copy holds. */
export interface CopiedFacts {
  generation: string
  newestMigration: number
  projects: number
  calls: number
  knowledgeItems: number
}

export type CopyReply = { ok: true; facts: CopiedFacts } | { ok: false; message: string; code: string }

const busyTimeoutMs = 10_000
const port = parentPort
if (!port) throw new Error('backup-worker.ts runs as a worker thread only')
const request: CopyRequest = workerData
port.postMessage(answer(request))
endWorker(port)

function answer({ source, target }: CopyRequest): CopyReply {
  try {
    copy(source, target)
    return { ok: true, facts: inspect(target) }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'UNKNOWN'
    return { ok: false, message: error instanceof Error ? error.message : String(error), code }
  }
}

/** One snapshot, without free pages. Others go on reading and writing meanwhile. */
function copy(source: string, target: string): void {
  const connection = new Database(source, { timeout: busyTimeoutMs })
  try {
    connection.prepare('vacuum into ?').run(target)
  } finally {
    connection.close()
  }
}

function inspect(file: string): CopiedFacts {
  const connection = new Database(file)
  try {
    forgetDeletedWords(connection)
    const [line] = column(connection, 'pragma quick_check(1)')
    if (line !== 'ok') throw new Error(`The database is damaged: ${line}`)
    return {
      generation: String(column(connection, "select value from meta where name = 'generation'")[0] ?? ''),
      newestMigration: Number(column(connection, 'select max(created_at) from __drizzle_migrations')[0] ?? 0),
      projects: Number(column(connection, 'select count(*) from projects')[0]),
      calls: Number(column(connection, 'select count(*) from calls')[0]),
      knowledgeItems: Number(column(connection, 'select count(*) from knowledge_items')[0]),
    }
  } finally {
    connection.close()
  }
}

/** The keyword index forgets deleted words when it is merged, which of the latest deletions may still be due. */
function forgetDeletedWords(connection: Database.Database): void {
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
