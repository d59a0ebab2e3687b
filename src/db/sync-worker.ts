import { existsSync } from 'node:fs'
import Database from 'libsql'
import { dataOfThread, serve } from '../threads/serve.ts'
import { httpUrl, type RemoteLocation } from './location.ts'

const probeWithinMs = 1_000
/** How often the replica's log is emptied at most. */
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

/** Syncs a replica, in native calls that block this thread until the primary answers. */
const api = {
  /** Called for one sync at a time. @param probes whether to check first that the primary answers */
  async sync(probes: boolean): Promise<void> {
    try {
      // A native call to a primary that is frozen or out of reach would block without end.
      if (probes) await probe()
      connection ??= open()
      const { frames_synced } = connection.sync() as { frames_synced: number }
      hasLog ||= frames_synced > 0
      emptyLog()
    } catch (error) {
      dropConnection()
      throw error
    }
  },
}

export type SyncApi = typeof api

serve(api, { close: dropConnection })

function dropConnection(): void {
  try {
    connection?.close()
  } catch {
    // A failed connection may fail to close. The next sync opens another.
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

/** Replication itself never empties the log, which would grow without limit. */
function emptyLog(): void {
  if (!hasLog || performance.now() - logEmptiedAt < emptyLogEveryMs || !existsSync(file)) return
  logEmptiedAt = performance.now()
  const plain = new Database(file, { timeout: busyTimeoutMs })
  try {
    const row = plain.prepare('PRAGMA wal_checkpoint(TRUNCATE)').raw().get([])
    // While a reader holds the log, the next sync tries again.
    if (Array.isArray(row) && row[0] === 0) hasLog = false
  } finally {
    plain.close()
  }
}
