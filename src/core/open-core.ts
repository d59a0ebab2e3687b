import { join } from 'node:path'
import type { Config } from '../config.ts'
import { readSecrets } from '../db/meta.ts'
import { VolumeWatch } from '../db/volume-watch.ts'
import type { Log } from '../observability/log.ts'
import { type Core, coreOf } from './core.ts'
import { openConfigured, refuseMissing } from './database.ts'
import { openFolder, refuseReadOnly } from './folder.ts'

const ownerWaitMsDefault = 2_000

export interface CoreOptions {
  config: Config
  log: Log
  role: 'service' | 'command'
  /** Whether to own the folder if no other process does. By default a service does and a command does not. */
  takesFolder?: boolean
  /** Whether to make a database where there is none. By default a service does and a command does not. */
  createsDatabase?: boolean
  /** How long to wait for a folder that another process owns. After that, the service takes it once it is free. */
  ownerWaitMs?: number
  /** Called when damage to the database is found after the start: the process should end. */
  onDamage?: (error: Error) => void
  /** Called when the data has left its path and is back: the services should be closed, and opened again. */
  onBack?: () => void
  /** Where people reach the console, until `listensAt` says it; by default what the configuration says. */
  address?: string
  now?: () => number
}

/** Opens the folder and the database. */
export async function openCore({
  config,
  log,
  role,
  takesFolder = role === 'service',
  createsDatabase = role === 'service',
  ownerWaitMs = ownerWaitMsDefault,
  onDamage = () => undefined,
  onBack = () => undefined,
  address = config.publicUrl ?? `http://${config.host}:${config.port}`,
  now = Date.now,
}: CoreOptions): Promise<Core> {
  if (role === 'service') refuseReadOnly(config.dataDir, config.databaseFile)
  if (!createsDatabase) refuseMissing(config)
  const owner = await openFolder(config.dataDir, { takesFolder, ownerWaitMs })
  const recordings = join(config.dataDir, 'recordings')
  const volume = new VolumeWatch({ file: config.databaseFile ?? '', recordings, log, onBack })
  const refusedBecause = () => volume.refusal()
  const opening = { config, log, role, createsDatabase, owner, refusedBecause, onDamage, now }
  const database = await openConfigured(opening)
  const secrets = await readSecrets(database.read, database.write)
  if (database.isLocal) volume.start(secrets.generation)
  return coreOf({ config, log, role, takesFolder, owner, volume, database, secrets, address, now })
}
