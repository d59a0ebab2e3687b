import type { Config } from './config.ts'
import type { DatabaseLocation } from './db/location.ts'
import { type OpenDatabase, type OpenDatabaseOptions, openDatabase } from './db/open.ts'
import { refuseDamaged } from './db/soundness.ts'

interface OpeningOptions extends OpenDatabaseOptions {
  config: Config
  /** A command shares the folder with a running service, which owns it. */
  role: 'service' | 'command'
  ownsFolder: boolean
  onDamage: (error: Error) => void
}

/** Opens the database that the configuration names; the process that owns its folder looks at the file first. */
export async function openConfigured({
  config,
  role,
  onDamage,
  ...options
}: OpeningOptions): Promise<OpenDatabase> {
  const location = locate(config, role)
  if (options.ownsFolder && location.kind === 'file') await refuseDamaged(location.file, onDamage)
  return await openDatabase(location, options)
}

/**
 * Where the configuration says that the rows are. A command does not share a running service's replica, which one
 * process alone may bring up to date: it talks to the primary.
 */
function locate(config: Config, role: OpeningOptions['role']): DatabaseLocation {
  const { databaseFile, databaseUrl, databaseAuthToken, databaseSyncUrl, databaseSyncIntervalMs } = config
  const remote = (url: string) => ({ kind: 'remote', url, authToken: databaseAuthToken }) as const
  if (databaseFile === null) return remote(databaseUrl)
  if (databaseSyncUrl === null) return { kind: 'file', file: databaseFile }
  const primary = remote(databaseSyncUrl)
  if (role === 'command') return primary
  return { kind: 'replica', file: databaseFile, primary, syncIntervalMs: databaseSyncIntervalMs }
}
