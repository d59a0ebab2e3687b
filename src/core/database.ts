import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../config.ts'
import type { FolderOwner } from '../db/folder-owner.ts'
import type { DatabaseLocation } from '../db/location.ts'
import { type OpenDatabase, openDatabase } from '../db/open.ts'
import { draftOf, removeDraft } from '../db/restored-draft.ts'
import { refuseDamaged } from '../db/soundness.ts'
import { isEmptyFile, noDatabase, UnusableDatabase } from '../db/unusable.ts'
import type { Log } from '../observability/log.ts'

interface OpeningOptions {
  config: Config
  role: 'service' | 'command'
  createsDatabase: boolean
  /** Released when the database cannot be opened. */
  owner: FolderOwner
  refusedBecause: () => string | null
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
  refusedBecause,
  log,
  onDamage,
  now,
}: OpeningOptions): Promise<OpenDatabase> {
  const location = locate(config, role)
  try {
    const isChecked = owner.isOwner && location.kind === 'file'
    const untilSound = isChecked ? refuseDamaged(location.file, onDamage) : undefined
    const database = await openDatabase(location, {
      ownsFolder: owner.isOwner,
      refusesNew: createsDatabase
        ? (halfRestored(config) ?? leftIndexes(config))
        : noDatabase(placeOf(config)),
      untilSound,
      refusedBecause,
      remotePollMs: config.databaseSyncIntervalMs,
      now,
      log,
    })
    if (isChecked) removeDraft(location.file)
    return database
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

/** Why a new database would be a mistake: somebody waits for the one of a backup. */
function halfRestored({ databaseFile }: Config): UnusableDatabase | null {
  if (databaseFile === null || !existsSync(draftOf(databaseFile))) return null
  return new UnusableDatabase(
    `A restore into ${databaseFile} was not finished. Nothing was changed.`,
    `Repeat it: bun callbook restore FOLDER. To begin anew, remove ${draftOf(databaseFile)}.`,
  )
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
