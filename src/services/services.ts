import { chmodSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { AuditTrail } from '../audit/audit-trail.ts'
import { Keys } from '../auth/keys.ts'
import { Calls } from '../calls/calls.ts'
import { Ingest } from '../calls/ingest.ts'
import { Overview } from '../calls/overview.ts'
import { WordBacklog } from '../calls/word-backlog.ts'
import type { Config } from '../config.ts'
import { FolderOwner } from '../db/folder-owner.ts'
import { readSecrets } from '../db/meta.ts'
import { createRecordHash } from '../db/record-hash.ts'
import { ProjectStores } from '../db/store.ts'
import { Erasure } from '../erasure/erasure.ts'
import { ProjectRemoval } from '../erasure/project-removal.ts'
import { ErasureReceipts } from '../erasure/receipts.ts'
import { Sweeper } from '../erasure/sweeper.ts'
import { Follower } from '../knowledge/follower.ts'
import { IdempotentCreates } from '../knowledge/idempotent-creates.ts'
import { openVectorIndex } from '../knowledge/index/vector-index.ts'
import { Indexer } from '../knowledge/indexer.ts'
import { Knowledge } from '../knowledge/knowledge.ts'
import { countPending } from '../knowledge/pending.ts'
import { Search } from '../knowledge/search/search.ts'
import { KnowledgeStatus } from '../knowledge/status.ts'
import { TextWork } from '../knowledge/text-work.ts'
import type { Log } from '../observability/log.ts'
import { Metrics } from '../observability/metrics.ts'
import { Projects } from '../projects/projects.ts'
import { createConsole } from './console.ts'
import { openConfigured } from './database.ts'
import { createEmbedder } from './embedder.ts'
import { Lifecycle } from './lifecycle.ts'

const ownerWaitMsDefault = 2_000

export type Services = Awaited<ReturnType<typeof openServices>>

export interface ServicesOptions {
  config: Config
  log: Log
  /** A command shares the folder with a running service, which owns it. */
  role: 'service' | 'command'
  /** Whether to own the folder if no other process does; a service always tries. */
  takesFolder?: boolean
  /** How long to wait for a folder that another process holds; later it is taken when nobody has it. */
  ownerWaitMs?: number
  /** Called when the database turns out to be damaged after all: the process had better end. */
  onDamage?: (error: Error) => void
  /** Milliseconds since 1970. */
  now?: () => number
}

/** The composition root: the only place that builds the parts, each with the parts that it works with. */
export async function openServices({
  config,
  log,
  role,
  takesFolder = role === 'service',
  ownerWaitMs = ownerWaitMsDefault,
  onDamage = () => undefined,
  now = Date.now,
}: ServicesOptions) {
  prepareFolder(config.dataDir)
  const owner = new FolderOwner(config.dataDir)
  if (takesFolder) await owner.take(ownerWaitMs)
  const database = await openConfigured({ config, role, owner, log, onDamage, now }).catch((error) => {
    owner.release()
    throw error
  })
  const { read, write, freeing } = database
  const stores = new ProjectStores(database.store)
  const store = stores.of
  const secrets = await readSecrets(read, write)
  const recordHash = createRecordHash(secrets.idHashKey)
  const isService = role === 'service'

  const audit = new AuditTrail({ read, write, now, log })
  const metrics = new Metrics()
  const textWork = new TextWork()
  const embedder = await createEmbedder({ config, metrics, database, textWork })
  const index = openVectorIndex({
    readsAt: database.readsAt,
    folder: join(config.dataDir, 'indexes'),
    space: embedder.space,
    savesFiles: owner.isOwner,
    // A command does not search, so how well it could is not its news.
    log: (level, message, fields) => log[!isService && level === 'warn' ? 'debug' : level](fields, message),
  })
  metrics.watch({ countPending: () => countPending(read), index, database })
  const sweeper = new Sweeper(database)
  const erasure = new Erasure({
    owner,
    database,
    index,
    sweeper,
    eraseWithinMs: config.eraseWithinMs,
    now,
    log,
  })
  const removal = new ProjectRemoval({ owner, database, stores, erasure, index, sweeper, now, log })
  const indexer = new Indexer({ stores, embedder, index: isService ? index : null, now, log })
  const follower = new Follower({ config, owner, database, stores, indexer, index, erasure, removal, log })
  const wordBacklog = new WordBacklog({ read, write, log })
  const projects = new Projects({ read, write, freeing, audit, recordHash, removal, now })
  const search = new Search({ store, embedder, index, metrics, log })
  const knowledge = new Knowledge({
    config,
    store,
    recordHash,
    audit,
    textWork,
    indexer,
    index,
    erasure,
    now,
    log,
  })
  const { sessionSecret } = secrets
  const lifecycle = new Lifecycle({
    ...{ config, log, owner, takesFolder, database, projects, follower, indexer, index, search, textWork },
    ...{ wordBacklog, erasure, removal, sweeper, metrics },
  })

  return {
    config,
    log,
    database,
    metrics,
    embedder,
    console: await createConsole({ config, log, database, audit, sessionSecret, now }),
    projects,
    removal,
    // A key can be revoked also on a full disk.
    keys: new Keys({ read, write: freeing, dataVersion: database.dataVersion, audit, now, log }),
    calls: new Calls({ store, recordHash, audit, erasure, now }),
    ingest: new Ingest({ config, store, recordHash, now }),
    wordBacklog,
    overview: new Overview({ store }),
    knowledge,
    knowledgeStatus: new KnowledgeStatus({ store, now }),
    idempotentCreates: new IdempotentCreates({ store, recordHash, knowledge, now }),
    erasureReceipts: new ErasureReceipts({ store, recordHash }),
    indexer,
    index,
    search,
    textWork,
    /** Finishes what an earlier process left open, then follows the database. */
    start: () => lifecycle.start(),
    notReadyBecause: () => lifecycle.notReadyBecause(),
    staleBecause: () => lifecycle.staleBecause(),
    /** Saves and closes everything. */
    close: () => lifecycle.close(),
    /** Whether this process is the one that saves index files and erases deletions in this folder. */
    get ownsFolder() {
      return owner.isOwner
    },
  }
}

/** The folder holds secrets and people's words; one that was there before may be open to others. */
function prepareFolder(folder: string): void {
  mkdirSync(join(folder, 'indexes'), { recursive: true, mode: 0o700 })
  try {
    chmodSync(folder, 0o700)
  } catch {
    // Somebody else's folder, such as a mounted volume: its owner decides, and our files are 0600 all the same.
  }
}
