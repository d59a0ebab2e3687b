import { parentPort, workerData } from 'node:worker_threads'
import Database from 'libsql'
import { LRUCache } from 'lru-cache'
import { endWorker } from '../end-worker.ts'
import type { SideQuery, SideReaderData, SideReply, SideRequest } from './side-reader.ts'

/** Queries of the side reader, one after the other: see side-reader.ts. */

const busyTimeoutMs = 5_000
const cacheKib = 32_768
const statementsMax = 100

const port = parentPort
if (!port) throw new Error('side-reader-worker.ts runs as a worker thread only')
const { file, isClosing }: SideReaderData = workerData

// Not mapped into memory: an index that is gone through as a whole would count as memory of the process.
const connection = new Database(file, { timeout: busyTimeoutMs })
connection.exec('PRAGMA query_only = ON')
connection.exec(`PRAGMA cache_size = -${cacheKib}`)
const statements = new LRUCache<string, ReturnType<typeof prepare>>({ max: statementsMax })

port.on('message', (request: SideRequest) => {
  if (request === 'close') close()
  else if (Atomics.load(isClosing, 0) === 0) answer(request)
})

function answer({ id, sql, params }: SideQuery): void {
  try {
    port?.postMessage({ id, rows: rowsOf(sql, params) } satisfies SideReply)
  } catch (error) {
    statements.delete(sql)
    port?.postMessage({ id, error: String(error) } satisfies SideReply)
  }
}

function close(): void {
  connection.close()
  if (port) endWorker(port)
}

function rowsOf(sql: string, params: unknown[]): unknown[][] {
  const statement = statements.get(sql) ?? prepare(sql)
  statements.set(sql, statement)
  return asRows(statement.all(params))
}

function prepare(sql: string) {
  return connection.prepare(sql).raw()
}

/** `raw` gives each row as an array. */
function asRows(rows: unknown[]): unknown[][] {
  return rows as unknown[][]
}
