import { AuditTrail } from '../audit/audit-trail.ts'
import type { Config } from '../config.ts'
import type { FolderOwner } from '../db/folder-owner.ts'
import type { readSecrets } from '../db/meta.ts'
import type { OpenDatabase } from '../db/open.ts'
import { createSettingsReader } from '../db/project-settings.ts'
import { createRecordHash } from '../db/record-hash.ts'
import { Rights } from '../db/rights.ts'
import { ProjectStores } from '../db/store.ts'
import type { VolumeWatch } from '../db/volume-watch.ts'
import type { Log } from '../observability/log.ts'
import { Metrics } from '../observability/metrics.ts'
import { Jobs } from './jobs.ts'
import { Lease, noLease } from './lease.ts'

/** What every part stands on. It is opened once, and copied with another member where a test needs one. */
export type Core = ReturnType<typeof coreOf>

interface Ground {
  config: Config
  log: Pick<Log, 'error' | 'warn' | 'info' | 'debug'>
  /** A command shares the folder with a running service, which owns it. */
  role: 'service' | 'command'
  takesFolder: boolean
  owner: Pick<FolderOwner, 'isOwner' | 'take' | 'stopWaiting' | 'release' | 'takeLater' | 'listensAt'>
  volume: Pick<VolumeWatch, 'close'>
  database: OpenDatabase
  secrets: Awaited<ReturnType<typeof readSecrets>>
  /** Where people reach the console, until the service listens. */
  address: string
  /** Milliseconds since 1970, as times named `…At` are unless they say otherwise. Times in texts are ISO 8601, UTC. */
  now: () => number
}

/** The core over an open database. */
export function coreOf({ secrets, ...ground }: Ground) {
  const { log, owner, volume, database, address, now } = ground
  const { read, write, writeWhenFull, dataVersion } = database
  const { idHashKey, sessionSecret, generation } = secrets
  const stores = new ProjectStores(database.store)
  const recordHash = createRecordHash(idHashKey)
  const rights = new Rights({ read, dataVersion })
  const metrics = new Metrics()
  /** Several processes on a remote database may do the same work, one at a time by its lease. */
  const leaseOf = (name: string) => (database.isLocal ? noLease : new Lease(database, name))
  const jobs = new Jobs({ owner, database, leaseOf, log })
  const closers: (() => unknown)[] = [() => metrics.close()]
  const steps: (() => unknown)[] = [() => database.own()]
  return {
    ...ground,
    read,
    write,
    writeWhenFull,
    dataVersion,
    stores,
    store: stores.of,
    sessionSecret,
    generation,
    site: { address },
    /** Signs what outsiders bring back, and encrypts the addresses of recordings to fetch. */
    linkSecret: idHashKey,
    recordHash,
    audit: new AuditTrail({ read, store: stores.of, write, recordHash, now, log }),
    rights,
    settingsOf: createSettingsReader(read, rights),
    metrics,
    jobs,
    /** What the owner of the folder does once, in this order, before its jobs start. Repeating it does no harm. */
    onOwn: (step: () => unknown) => void steps.push(step),
    ownSteps: (): readonly (() => unknown)[] => steps,
    /** What is closed at the end: what was opened last, first. */
    onClose: (close: () => unknown) => void closers.push(close),
    /** Aborts the jobs, closes what they may wait for, waits for their end, and closes the database. */
    close: async () => {
      owner.stopWaiting()
      await volume.close()
      const ended = jobs.close()
      for (const close of closers.splice(0).reverse())
        await Promise.resolve()
          .then(close)
          .catch((error) => log.error({ error }, 'A part of the service could not be closed'))
      await ended
      await database.close()
      owner.release()
    },
  }
}
