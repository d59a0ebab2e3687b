import { join } from 'node:path'
import { AuditTrail } from '../audit/audit-trail.ts'
import { Keys } from '../auth/keys.ts'
import { Calls } from '../calls/calls.ts'
import { Ingest } from '../calls/ingest.ts'
import { Overview } from '../calls/overview.ts'
import { WordBacklog } from '../calls/word-backlog.ts'
import { readSecrets } from '../db/meta.ts'
import { createRecordHash } from '../db/record-hash.ts'
import { ProjectStores } from '../db/store.ts'
import { Erasure } from '../erasure/erasure.ts'
import { ProjectErasure } from '../erasure/project-erasure.ts'
import { ErasureReceipts } from '../erasure/receipts.ts'
import { Sweeper } from '../erasure/sweeper.ts'
import { Follower } from '../knowledge/follower.ts'
import { IdempotentCreates } from '../knowledge/idempotent-creates.ts'
import { openVectorIndex } from '../knowledge/index/vector-index.ts'
import { IndexedItems } from '../knowledge/indexed-items.ts'
import { Indexer } from '../knowledge/indexer.ts'
import { Knowledge } from '../knowledge/knowledge.ts'
import { countPending } from '../knowledge/pending.ts'
import { Search } from '../knowledge/search/search.ts'
import { TextThreads } from '../knowledge/text-threads.ts'
import { Metrics } from '../observability/metrics.ts'
import { Projects } from '../projects/projects.ts'
import { createConsole } from './console.ts'
import { openConfigured } from './database.ts'
import { createEmbedder } from './embedder.ts'
import { openFolder } from './folder.ts'
import { Lifecycle } from './lifecycle.ts'
import type { ServicesOptions } from './options.ts'

const ownerWaitMsDefault = 2_000

export type Services = Awaited<ReturnType<typeof openServices>>

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
  const owner = await openFolder(config.dataDir, { takesFolder, ownerWaitMs })
  const ambient = { config, log, now }
  const database = await openConfigured({ ...ambient, role, owner, onDamage })
  const { read, write, freeing } = database
  const stores = new ProjectStores(database.store)
  const store = stores.of
  const { idHashKey, sessionSecret } = await readSecrets(read, write)
  const recordHash = createRecordHash(idHashKey)

  const audit = new AuditTrail({ read, write, now, log })
  const metrics = new Metrics()
  const textThreads = new TextThreads()
  const embedder = await createEmbedder({ config, metrics, database, textThreads })
  const index = openVectorIndex({
    readsAt: database.readsAt,
    folder: join(config.dataDir, 'indexes'),
    space: embedder.space,
    savesFiles: owner.isOwner,
    // A command does not search, so a slow or missing index does not concern it.
    log: (level, message, fields) =>
      log[role === 'command' && level === 'warn' ? 'debug' : level](fields, message),
  })
  metrics.watch({ countPending: () => countPending(read), index, database })
  const sweeper = new Sweeper(database)
  const { eraseWithinMs } = config
  const erasure = new Erasure({ ...ambient, owner, database, index, sweeper, eraseWithinMs })
  const projectErasure = new ProjectErasure({ ...ambient, owner, database, stores, erasure, index, sweeper })
  const indexer = new Indexer({ ...ambient, stores, embedder, index: role === 'service' ? index : null })
  const follower = new Follower({
    ...ambient,
    owner,
    database,
    stores,
    indexer,
    index,
    erasure,
    projectErasure,
  })
  const wordBacklog = new WordBacklog({ read, write, log })
  const projects = new Projects({ read, write, freeing, audit, recordHash, projectErasure, now })
  const search = new Search({ store, embedder, index, metrics, log })
  const knowledge = new Knowledge({
    ...ambient,
    store,
    recordHash,
    audit,
    textThreads,
    indexer,
    index,
    erasure,
  })
  const lifecycle = new Lifecycle({
    ...{ config, log, owner, takesFolder, database, projects, follower, indexer, index, search, textThreads },
    ...{ wordBacklog, erasure, projectErasure, sweeper, metrics },
  })

  return {
    ...{ config, log, database, metrics, embedder, projects, projectErasure, wordBacklog },
    ...{ knowledge, indexer, index, search, textThreads },
    console: createConsole({ ...ambient, database, audit, sessionSecret }),
    // A key can be revoked on a full disk, too.
    keys: new Keys({ read, write: freeing, dataVersion: database.dataVersion, audit, now, log }),
    calls: new Calls({ store, recordHash, audit, erasure, now }),
    ingest: new Ingest({ config, store, recordHash, now }),
    overview: new Overview({ store }),
    indexedItems: new IndexedItems({ store, now }),
    idempotentCreates: new IdempotentCreates({ store, recordHash, knowledge, now }),
    erasureReceipts: new ErasureReceipts({ store, recordHash }),
    start: () => lifecycle.start(),
    notReadyBecause: () => lifecycle.notReadyBecause(),
    staleBecause: () => lifecycle.staleBecause(),
    close: () => lifecycle.close(),
    /** Whether this process is the one that saves index files and erases deletions in this folder. */
    get ownsFolder() {
      return owner.isOwner
    },
  }
}
