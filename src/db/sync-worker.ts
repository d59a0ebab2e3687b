import { existsSync } from 'node:fs'
import Database from 'libsql'
import { dataOfThread, serve } from '../threads/serve.ts'
import { generationOfFile, lacksTable, selectGeneration, textOf } from './generation.ts'
import { httpUrl, type RemoteLocation } from './location.ts'
import { openRemoteClient } from './remote-client.ts'

const answerWithinMs = 1_000
/** How often the replica's log is emptied at most. */
const emptyLogEveryMs = 1_000
const busyTimeoutMs = 100

export interface SyncData {
  file: string
  primary: RemoteLocation
}

const { file, primary } = dataOfThread<SyncData>()
const remote = openRemoteClient(primary, { deadlineMs: answerWithinMs, concurrency: 1 })
/** The generation of the replica's database; null until a first sync has fetched it. */
let generation: string | null = null
let connection: Database.Database | null = null
let logEmptiedAt = 0
let hasLog = true

/** Syncs a replica, in native calls that block this thread until the primary answers. */
const api = {
  /** Called for one sync at a time. @returns why nothing was synced, in a sentence; null when it was */
  async sync(): Promise<string | null> {
    try {
      const refusal = await findOtherPrimary()
      if (refusal !== null) return refusal
      connection ??= open()
      const { frames_synced } = connection.sync() as { frames_synced: number }
      hasLog ||= frames_synced > 0
      emptyLog()
      return null
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

/**
 * Asks the primary which database it has before anything is fetched: a sync replaces the replica by whatever is there. It
 * also shows that the primary answers, since a native call to one that is frozen would block without end.
 */
async function findOtherPrimary(): Promise<string | null> {
  const there = await generationOfPrimary()
  generation ??= generationOfFile(file)
  if (generation === null || generation === there) return null
  const what = there === null ? 'is empty' : 'has another database than this replica'
  return `The primary ${what}, so this node keeps its copy, and neither syncs nor writes.`
}

async function generationOfPrimary(): Promise<string | null> {
  try {
    const { rows } = await remote.execute(selectGeneration)
    return textOf(rows[0]?.[0])
  } catch (error) {
    if (lacksTable(error)) return null
    throw error
  }
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
