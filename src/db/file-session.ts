import { type Client, createClient } from '@libsql/client'
import { clearStalePages } from './stale-cells.ts'
import {
  meansLock,
  toPlainResult,
  type WriterCall,
  type WriterSession,
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

/** Writes to a database file. @param url `file:…` */
export function openFileSession(url: string): WriterSession {
  const client = createClient({ url, concurrency: 1, intMode: 'number', timeout: busyTimeoutMs })
  let hasPragmas = false
  return {
    async run(call) {
      if (!hasPragmas) for (const pragma of pragmas) await client.execute(pragma)
      hasPragmas = true
      return await run(client, call)
    },
    async recover(code) {
      // The client drops a connection that cannot be rolled back and opens another, without our PRAGMAs.
      hasPragmas = false
      // A BEGIN that met a lock stays open in its connection, where every later one would fail as well.
      if (meansLock(code)) await client.reconnect()
    },
  }
}

async function run(client: Client, call: WriterCall): Promise<WriterValue> {
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
    case 'clearStalePages':
      await clearStalePages(client, call.pages)
      return null
    case 'close':
      client.close()
      return null
  }
}
