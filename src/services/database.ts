import type { Config } from '../config.ts'
import type { DatabaseLocation } from '../db/location.ts'
import { type OpenDatabase, openDatabase } from '../db/open.ts'
import { refuseDamaged } from '../db/soundness.ts'
import type { Log } from '../observability/log.ts'

interface OpeningOptions {
  config: Config
  /** A command shares the folder with a running service, which owns it. */
  role: 'service' | 'command'
  owner: { readonly isOwner: boolean }
  log: Log
  onDamage: (error: Error) => void
  now: () => number
}

/** Opens the database that the configuration names; the process that owns its folder looks at the file first. */
export async function openConfigured({
  config,
  role,
  owner,
  log,
  onDamage,
  now,
}: OpeningOptions): Promise<OpenDatabase> {
  const location = locate(config, role)
  if (owner.isOwner && location.kind === 'file') await refuseDamaged(location.file, onDamage)
  return await openDatabase(location, {
    ownsFolder: owner.isOwner,
    now,
    onWriterFailure: (error) => log.error({ error }, 'The writer failed and is started again'),
    onDisk: (error) =>
      error === null
        ? log.info('The disk takes writes again')
        : log.error({ error }, 'The disk refuses to write the database; writes are answered 503'),
    onReplication: (problem) =>
      problem === null
        ? log.info('The replica follows its primary again')
        : log.warn({ problem }, 'The replica cannot be brought up to date; it serves what it has'),
    onSocketFailure: (error) =>
      log.warn({ error }, 'Other processes on this folder cannot ask this one for news at this socket'),
  })
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
