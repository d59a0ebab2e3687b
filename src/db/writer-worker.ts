import { parentPort, workerData } from 'node:worker_threads'
import { type Client, createClient, LibsqlError } from '@libsql/client'
import { clearStalePages } from './stale-cells.ts'
import {
  meansLock,
  toPlainResult,
  type WriterCall,
  type WriterReply,
  type WriterRequest,
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
let hasPragmas = false
let queue: Promise<void> = Promise.resolve()

port.on('message', (request: WriterRequest) => {
  queue = queue.then(async () => {
    port.postMessage(await answer(request))
    if (request.call.method === 'close') port.close()
  })
})

async function answer({ id, call }: WriterRequest): Promise<WriterReply> {
  try {
    if (!hasPragmas) await setPragmas(client)
    hasPragmas = true
    return { id, ok: true, value: await run(call) }
  } catch (error) {
    // The client drops a connection that cannot be rolled back and opens another, without our PRAGMAs.
    hasPragmas = false
    const code = error instanceof LibsqlError ? error.code : 'UNKNOWN'
    // A BEGIN that met a lock stays open in its connection, where every later one would fail as well.
    if (meansLock(code)) await client.reconnect()
    return { id, ok: false, error: { message: error instanceof Error ? error.message : String(error), code } }
  }
}

async function run(call: WriterCall) {
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
    case 'close':
      client.close()
      return null
  }
}

async function setPragmas(client: Client): Promise<void> {
  for (const pragma of pragmas) await client.execute(pragma)
}
