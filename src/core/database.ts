import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../config.ts'
import type { FolderOwner } from '../db/folder-owner.ts'
import type { DatabaseLocation } from '../db/location.ts'
import { type OpenDatabase, openDatabase } from '../db/open.ts'
import { refuseDamaged } from '../db/soundness.ts'
import { isEmptyFile, noDatabase, UnusableDatabase } from '../db/unusable.ts'
import type { Log } from '../observability/log.ts'

interface OpeningOptions {
  config: Config
  /** A command shares the folder with a running service, which owns it. */
  role: 'service' | 'command'
  createsDatabase: boolean
  /** Released when the database cannot be opened. */
  owner: FolderOwner
  log: Log
  onDamage: (error: Error) => void
  now: () => number
}

/** Opens the database that the configuration names. The owner of its folder checks the file first. */
export async function openConfigured({
  config,
  role,
  createsDatabase,
  owner,
  log,
  onDamage,
  now,
}: OpeningOptions): Promise<OpenDatabase> {
  const location = locate(config, role)
  try {
    const isChecked = owner.isOwner && location.kind === 'file'
    const untilSound = isChecked ? refuseDamaged(location.file, onDamage) : undefined
    return await openDatabase(location, {
      ownsFolder: owner.isOwner,
      refusesNew: createsDatabase ? leftIndexes(config) : noDatabase(placeOf(config)),
      untilSound,
      remotePollMs: config.databaseSyncIntervalMs,
      now,
      log,
    })
  } catch (error) {
    owner.release()
    throw error
  }
}

/** Before anything is made in a folder that may be the wrong one. @throws where the configuration names a file that is not there */
export function refuseMissing({ databaseFile, databaseSyncUrl }: Config): void {
  if (databaseFile !== null && databaseSyncUrl === null && isEmptyFile(databaseFile))
    throw noDatabase(databaseFile)
}

function placeOf({ databaseFile, databaseUrl, databaseSyncUrl }: Config): string {
  return databaseSyncUrl ?? databaseFile ?? databaseUrl
}

/** Why a new database would be a mistake: it would drop the indexes of the one that was here. */
function leftIndexes({ dataDir, databaseFile, databaseSyncUrl }: Config): UnusableDatabase | null {
  const folder = join(dataDir, 'indexes')
  if (databaseFile === null || databaseSyncUrl !== null || readdirSync(folder).length === 0) return null
  return new UnusableDatabase(
    `The database ${databaseFile} is empty or missing, but ${folder} holds indexes of one. Nothing was changed.`,
    `Bring the database back, or restore a backup into a new DATA_DIR: bun callbook restore FOLDER. To begin anew, remove ${folder}.`,
  )
}

/** A command talks to the primary: only one process may sync a replica, and the service may be running. */
function locate(config: Config, role: OpeningOptions['role']): DatabaseLocation {
  const { databaseFile, databaseUrl, databaseAuthToken, databaseSyncUrl, databaseSyncIntervalMs } = config
  const remote = (url: string) => ({ kind: 'remote', url, authToken: databaseAuthToken }) as const
  if (databaseFile === null) return remote(databaseUrl)
  if (databaseSyncUrl === null) return { kind: 'file', file: databaseFile }
  const primary = remote(databaseSyncUrl)
  if (role === 'command') return primary
  return { kind: 'replica', file: databaseFile, primary, syncIntervalMs: databaseSyncIntervalMs }
}
