import { existsSync } from 'node:fs'
import Database from 'libsql'
import { dataOfThread, serve } from '../threads/serve.ts'
import { httpUrl, type RemoteLocation } from './location.ts'

const probeWithinMs = 1_000
/** The replica's log is emptied at most this often. */
const emptyLogEveryMs = 1_000
const busyTimeoutMs = 100

export interface SyncData {
  file: string
  primary: RemoteLocation
}

const { file, primary } = dataOfThread<SyncData>()
let connection: Database.Database | null = null
let logEmptiedAt = 0
let hasLog = true
let last: Promise<void> = Promise.resolve()

/** Brings a replica up to date: native calls that block this thread for as long as the primary keeps them waiting. */
const api = {
  /** @param probes whether to ask first if the primary is there: unless it has just answered */
  sync(probes: boolean): Promise<void> {
    const done = last.then(() => sync(probes))
    last = done.catch(() => undefined)
    return done
  },
}

export type SyncApi = typeof api

serve(api, { close: dropConnection })

async function sync(probes: boolean): Promise<void> {
  try {
    // A native call to a primary that is frozen or out of reach returns when that one does, not before.
    if (probes) await probe()
    connection ??= open()
    const { frames_synced } = connection.sync() as { frames_synced: number }
    hasLog ||= frames_synced > 0
    emptyLog()
  } catch (error) {
    dropConnection()
    throw error
  }
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
    // Otherwise a reader holds the log: the next sync tries again.
    if (Array.isArray(row) && row[0] === 0) hasLog = false
  } finally {
    plain.close()
  }
}
