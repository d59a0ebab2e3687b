import type { Config } from '../config.ts'
import type { FolderOwner } from '../db/folder-owner.ts'
import type { DatabaseLocation } from '../db/location.ts'
import { type OpenDatabase, openDatabase } from '../db/open.ts'
import { refuseDamaged } from '../db/soundness.ts'
import type { Log } from '../observability/log.ts'

interface OpeningOptions {
  config: Config
  /** A command shares the folder with a running service, which owns it. */
  role: 'service' | 'command'
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
