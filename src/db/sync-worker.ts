import { existsSync } from 'node:fs'
import { parentPort, workerData } from 'node:worker_threads'
import Database from 'libsql'
import { endWorker } from '../end-worker.ts'
import { httpUrl, type RemoteLocation } from './location.ts'

/** Brings a replica up to date: native calls that block this thread for as long as the primary keeps them waiting. */

export type SyncRequest =
  | {
      id: number
      /** Ask first whether the primary is there: unless it has just answered. */
      probes: boolean
    }
  | 'close'

export type SyncReply = { id: number; error: string | null }

const probeWithinMs = 1_000
/** The replica's log is emptied at most this often. */
const emptyLogEveryMs = 1_000
const busyTimeoutMs = 100

const port = parentPort
if (!port) throw new Error('sync-worker.ts runs as a worker thread only')
const { file, primary }: { file: string; primary: RemoteLocation } = workerData
let connection: Database.Database | null = null
let logEmptiedAt = 0
let hasLog = true
let queue: Promise<void> = Promise.resolve()

port.on('message', (request: SyncRequest) => {
  queue = queue.then(async () => {
    if (request === 'close') return close()
    port.postMessage({ id: request.id, error: await sync(request.probes) } satisfies SyncReply)
  })
})

async function sync(probes: boolean): Promise<string | null> {
  try {
    // A native call to a primary that is frozen or out of reach returns when that one does, not before.
    if (probes) await probe()
    connection ??= open()
    const { frames_synced } = connection.sync() as { frames_synced: number }
    hasLog ||= frames_synced > 0
    emptyLog()
    return null
  } catch (error) {
    dropConnection()
    return error instanceof Error ? error.message : String(error)
  }
}

function close(): void {
  dropConnection()
  if (port) endWorker(port)
}

function dropConnection(): void {
  try {
    connection?.close()
  } catch {
    // One that has failed may not even close; the next sync opens another.
  }
  connection = null
}

async function probe(): Promise<void> {
  const answer = await fetch(`${httpUrl(primary.url)}/health`, { signal: AbortSignal.timeout(probeWithinMs) })
  await answer.arrayBuffer()
  if (answer.status >= 500) throw new Error(`The primary answered ${answer.status}`)
}

function open(): Database.Database {
  return new Database(file, {
    syncUrl: httpUrl(primary.url),
    ...(primary.authToken === null ? {} : { authToken: primary.authToken }),
  } as Database.Options)
}

/** Otherwise it grows for ever: what replicates it never does this. */
function emptyLog(): void {
  if (!hasLog || performance.now() - logEmptiedAt < emptyLogEveryMs || !existsSync(file)) return
  logEmptiedAt = performance.now()
  const plain = new Database(file, { timeout: busyTimeoutMs })
  try {
    const row = plain.prepare('PRAGMA wal_checkpoint(TRUNCATE)').raw().get([])
    // Somebody reads just now; the next time then.
    if (Array.isArray(row) && row[0] === 0) hasLog = false
  } finally {
    plain.close()
  }
}
