import { setImmediate } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'
import { type Client, createClient, LibsqlError } from '@libsql/client'
import { Reserve } from './reserve.ts'
import { clearStalePages } from './stale-cells.ts'
import {
  meansLock,
  toPlainResult,
  type WriterCall,
  type WriterReply,
  type WriterRequest,
  type WriterValue,
} from './writer-messages.ts'

const busyTimeoutMs = 5_000

// The one connection that writes. `foreign_keys`, `secure_delete` and `synchronous` hold for a connection,
// not for a file, so they are set here, on the only connection this client ever opens.
const pragmas = [
  'PRAGMA journal_mode = WAL',
  'PRAGMA synchronous = FULL',
  'PRAGMA foreign_keys = ON',
  'PRAGMA secure_delete = ON',
  `PRAGMA busy_timeout = ${busyTimeoutMs}`,
  'PRAGMA temp_store = MEMORY',
  'PRAGMA cache_size = -65536',
]

const port = parentPort
if (!port) throw new Error('writer-worker.ts runs as a worker thread only')

const client = createClient({
  url: workerData.url,
  concurrency: 1,
  intMode: 'number',
  timeout: busyTimeoutMs,
})
const reserve = new Reserve(workerData.url.replace(/^file:/, ''))
let hasPragmas = false
let lastId = 0
/** Calls up to this one waited for a lock behind another, which has given up. */
let refusedUpTo = 0
let queue: Promise<void> = Promise.resolve()

port.on('message', (request: WriterRequest) => {
  lastId = request.id
  queue = queue.then(async () => {
    port.postMessage(await answer(request))
    if (request.call.method === 'close') port.close()
  })
})

async function answer({ id, call, frees }: WriterRequest): Promise<WriterReply> {
  try {
    if (id <= refusedUpTo) throw new LibsqlError('The database was locked', 'SQLITE_BUSY')
    if (!frees && !reserve.hasRoom()) throw new LibsqlError('Only what frees space is written', 'SQLITE_FULL')
    return { id, ok: true, value: await runWithRoom(call, frees) }
  } catch (error) {
    const code = codeOf(error)
    if (meansLock(code) && id > refusedUpTo) {
      // A BEGIN that met a lock stays open in its connection, where every later one would fail as well.
      await client.reconnect()
      // Each waiting as long in its turn, the last would wait for hours.
      await setImmediate()
      refusedUpTo = lastId
    }
    return { id, ok: false, error: { message: error instanceof Error ? error.message : String(error), code } }
  }
}

/** On a full disk what frees space is tried once more, with the room that is kept for it. */
async function runWithRoom(call: WriterCall, frees: boolean): Promise<WriterValue> {
  try {
    return await runWithPragmas(call)
  } catch (error) {
    if (codeOf(error) !== 'SQLITE_FULL' || !frees || !reserve.release()) throw error
    // The log may be what fills the disk.
    await runWithPragmas({ method: 'execute', statement: 'PRAGMA wal_checkpoint(TRUNCATE)' })
    return await runWithPragmas(call)
  }
}

async function runWithPragmas(call: WriterCall): Promise<WriterValue> {
  try {
    if (!hasPragmas) await setPragmas(client)
    hasPragmas = true
    return await run(call)
  } catch (error) {
    // The client drops a connection that cannot be rolled back and opens another, without our PRAGMAs.
    hasPragmas = false
    throw error
  }
}

function codeOf(error: unknown): string {
  return error instanceof LibsqlError ? error.code : 'UNKNOWN'
}

async function run(call: WriterCall): Promise<WriterValue> {
  switch (call.method) {
    case 'execute':
      return toPlainResult(await client.execute(call.statement))
    case 'batch':
      return (await client.batch(call.statements, 'write')).map(toPlainResult)
    case 'migrate':
      return (await client.migrate(call.statements)).map(toPlainResult)
    case 'executeMultiple':
      await client.executeMultiple(call.sql)
      return null
    case 'sync':
      return (await client.sync()) ?? null
    case 'clearStalePages':
      await clearStalePages(client, call.pages)
      return null
    case 'keepReserve':
      reserve.keep()
      return null
    case 'close':
      client.close()
      return null
  }
}

async function setPragmas(client: Client): Promise<void> {
  for (const pragma of pragmas) await client.execute(pragma)
}
