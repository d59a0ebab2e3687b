import { chmodSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'drizzle-orm'
import { Keys } from './auth/keys.ts'
import { Calls } from './calls/calls.ts'
import { Ingest } from './calls/ingest.ts'
import { Overview } from './calls/overview.ts'
import { WordBacklog } from './calls/word-backlog.ts'
import type { Config } from './config.ts'
import type { ConsoleParts } from './console/api-routes.ts'
import { AuditTrail } from './console/audit.ts'
import { createConsole } from './create-console.ts'
import { createEmbedder } from './create-embedder.ts'
import { Duties } from './db/duties.ts'
import { Erasure } from './db/erasure.ts'
import { FolderOwner } from './db/folder-owner.ts'
import { readSecrets } from './db/meta.ts'
import type { OpenDatabase } from './db/open.ts'
import { createRecordHash } from './db/record-hash.ts'
import { Gate } from './db/store.ts'
import { Sweeper } from './db/sweeper.ts'
import { ErasureReceipts } from './erasures/receipts.ts'
import type { Embedder } from './knowledge/embedding/embedder.ts'
import { Follower } from './knowledge/follower.ts'
import { IdempotentCreates } from './knowledge/idempotent-creates.ts'
import { openVectorIndex, type VectorIndex } from './knowledge/index/vector-index.ts'
import { Indexer, leaseMs } from './knowledge/indexer.ts'
import { Knowledge } from './knowledge/knowledge.ts'
import { countPending } from './knowledge/pending.ts'
import { Search } from './knowledge/search/search.ts'
import { KnowledgeStatus } from './knowledge/status.ts'
import { TextWork } from './knowledge/text-work.ts'
import { refillWords } from './knowledge/word-filling.ts'
import type { Log } from './observability/log.ts'
import { Metrics } from './observability/metrics.ts'
import { openConfigured } from './open-configured.ts'
import { type Project, Projects } from './projects/projects.ts'
import { Removals } from './projects/removals.ts'

const ownerWaitMsDefault = 2_000
const followEveryMs = 500
/** Longer than it takes another process on the same database to notice that a project was deleted. */
const removalDelayMs = 1_000

export interface Services {
  readonly config: Config
  readonly log: Log
  readonly database: OpenDatabase
  readonly metrics: Metrics
  readonly embedder: Embedder
  readonly console: ConsoleParts
  readonly projects: Projects
  /** Takes deleted projects out of every file, in the process that owns the folder. */
  readonly removals: Removals
  readonly keys: Keys
  readonly calls: Calls
  readonly ingest: Ingest
  readonly wordBacklog: WordBacklog
  readonly overview: Overview
  readonly knowledge: Knowledge
  readonly knowledgeStatus: KnowledgeStatus
  readonly idempotentCreates: IdempotentCreates
  readonly erasureReceipts: ErasureReceipts
  readonly indexer: Indexer
  readonly index: VectorIndex
  readonly search: Search
  readonly textWork: TextWork
  /** Whether this process is the one that saves index files and scrubs deletions in this folder. */
  readonly ownsFolder: boolean
  /** Finishes what an earlier process left open, then follows the database. */
  start(): Promise<void>
  /** Why requests had better wait, in a sentence; null when there is no reason. */
  notReadyBecause(): Promise<string | null>
  /** Why a replica is too old to be served, in a sentence; null when it is not. */
  staleBecause(): string | null
  /** Saves and closes everything, in the order in which it depends on each other. */
  close(): Promise<void>
}

export interface ServicesOptions {
  config: Config
  log: Log
  /** A command shares the folder with a running service, which owns it. */
  role: 'service' | 'command'
  /** Whether to own the folder if no other process does; a service always tries. */
  takesFolder?: boolean
  /** How long to wait for a folder that another process holds; later it is taken when nobody has it. */
  ownerWaitMs?: number
  /** Told when the database turns out to be damaged after all: the process had better end. */
  onDamage?: (error: Error) => void
  /** Milliseconds since 1970. */
  now?: () => number
}

/** The composition root: the only place that builds the parts and hands them to each other. */
export async function openServices({
  config,
  log,
  role,
  takesFolder = role === 'service',
  ownerWaitMs = ownerWaitMsDefault,
  onDamage = () => undefined,
  now = Date.now,
}: ServicesOptions): Promise<Services> {
  mkdirSync(join(config.dataDir, 'indexes'), { recursive: true, mode: 0o700 })
  keepToOwner(config.dataDir)
  const owner = new FolderOwner(config.dataDir)
  if (takesFolder) await owner.take(ownerWaitMs)
  const database = await openConfigured({
    config,
    role,
    ownsFolder: owner.isOwner,
    onDamage,
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
  }).catch((error) => {
    owner.release()
    throw error
  })
  const { read, write, freeing } = database
  const gate = new Gate(database.store)
  const { store } = gate
  const secrets = await readSecrets(read, write)
  const recordHash = createRecordHash(secrets.idHashKey)
  const audit = new AuditTrail({
    read,
    write,
    now,
    onFailure: (error) => log.error({ error }, 'An event was not noted in the audit trail'),
  })
  const metrics = new Metrics({
    pendingChunks: () => countPending(read),
    indexTotals: () => totals(index),
    replication: database.replication,
  })
  const textWork = new TextWork()
  const embedder = await createEmbedder({ config, metrics, database, textWork })
  const index = openVectorIndex({
    readsAt: database.readsAt,
    folder: join(config.dataDir, 'indexes'),
    space: embedder.space,
    savesFiles: owner.isOwner,
    // A command does not search, so how well it could is not its news.
    log: (level, message, fields) =>
      log[role === 'command' && level === 'warn' ? 'debug' : level](fields, message),
  })
  const sweeper = new Sweeper({ file: database.file, clearPages: database.clearStalePages })
  const erasure = new Erasure({
    isLocal: database.isLocal,
    read,
    write: freeing,
    scrubIndex: (projectId) => index.scrub(projectId),
    sweepPages: (signal) => sweeper.sweep(signal),
    emptyLog: database.emptyLog,
    eraseWithinMs: config.eraseWithinMs,
    now,
    onFailure: (error) => log.error({ error }, 'Erasure failed; it is tried again'),
  })
  const removals = new Removals({
    isLocal: database.isLocal,
    read,
    write: freeing,
    leave: async (projectId) => {
      gate.close(projectId)
      await erasure.idle()
    },
    dropIndex: (projectId) => index.drop(projectId),
    sweepPages: (signal) => sweeper.sweep(signal),
    emptyLog: database.emptyLog,
    delayMs: removalDelayMs,
    now,
    clock: () => performance.now(),
    onFailure: (error) => log.error({ error }, 'Removing a deleted project failed; it is tried again'),
  })
  const scheduleErasure = (projectId?: number) => {
    if (owner.isOwner) erasure.schedule(projectId)
  }
  const scheduleRemoval = () => {
    if (owner.isOwner) removals.schedule()
  }
  /** An index that is starting again reads the rows when it is up. */
  const reconcileLater = (projectId: number, error: unknown) => {
    log.warn({ error, projectId }, 'The vector index did not take a change; it is made equal to the rows')
    follower.distrust(projectId)
  }
  const indexer = new Indexer({
    store,
    embedder,
    isGone: (projectId) => gate.isClosed(projectId),
    addToIndex: async (projectId, labels) => {
      // A command does not search; the service finds its vectors in the rows.
      if (role === 'command' || gate.isClosed(projectId)) return
      follower.noteOwnChange(projectId)
      await index.add(projectId, labels).catch((error) => reconcileLater(projectId, error))
    },
    leaseMs,
    now,
    random: Math.random,
    onFailure: ({ error, ...failure }) =>
      log.warn({ error, ...failure }, 'Embedding failed; it is tried again'),
  })
  const follower = new Follower({
    read,
    write,
    folder: config.dataDir,
    dataVersion: database.dataVersion,
    pollMs: database.readsAt.kind === 'remote' ? config.databaseSyncIntervalMs : followEveryMs,
    reconcile: async (projectId) => {
      if (gate.isClosed(projectId)) return
      await indexer.adoptSpace(projectId)
      // Erasure scrubs a local database's index file together with its pages.
      await (database.isLocal ? index.reconcile(projectId) : index.follow(projectId))
    },
    rebuild: () => (owner.isOwner ? (projectId) => index.rebuild(projectId) : null),
    wakeIndexer: (projectId) => indexer.wake(projectId),
    scheduleErasure: () => {
      scheduleErasure()
      // On a server's database the node that deletes a project removes it; what it leaves open, the next start finds.
      if (database.isLocal) scheduleRemoval()
    },
    onProjectGone: (projectId) => {
      gate.close(projectId)
      // Who removes the rows drops the index when they are gone.
      if (!owner.isOwner || !database.isLocal)
        index.drop(projectId).catch((error) => log.warn({ error }, 'An index was not dropped'))
    },
    onFailure: (error) => log.error({ error }, 'Following the database failed'),
  })
  const wordBacklog = new WordBacklog({
    read,
    write,
    onFailure: (error) => log.error({ error }, "Indexing calls' words failed; it is tried again"),
  })
  const projects = new Projects({
    read,
    write,
    freeing,
    audit,
    recordHash,
    onRemoved: (projectId) => {
      gate.close(projectId)
      scheduleRemoval()
    },
    now,
  })
  const search = new Search({
    store,
    embedder,
    index,
    now: () => performance.now(),
    observe: (outcome) => metrics.observeSearch(outcome),
    onDegraded: (error) => log.debug({ error }, 'Answered by keyword alone'),
  })
  const refill = async (projectId: number) => {
    const count = await refillWords(store(projectId), projectId)
    if (count !== null)
      log.info({ projectId, chunks: count }, 'The keyword index of an earlier version was filled anew')
  }
  const knowledge = new Knowledge({
    store,
    recordHash,
    audit,
    toChunkRows: (text) => textWork.toChunkRows(text),
    settle: (projectId, labels) => indexer.settle(projectId, labels, config.indexWaitMs),
    forget: (projectId, labels) => {
      follower.noteOwnChange(projectId)
      // Search leaves out what has no row, and the rows are gone, so the deletion holds all the same.
      return index.remove(projectId, labels).catch((error) => reconcileLater(projectId, error))
    },
    scheduleErasure,
    leaseMs,
    textBytesMax: config.knowledgeTextBytesMax,
    now,
  })
  const staleBecause = () => {
    const max = config.replicaStalenessMsMax
    const replication = max > 0 ? database.replication() : null
    if (!replication || (replication.lagMs !== null && replication.lagMs <= max)) return null
    return `This replica has not been brought up to date for more than ${max} ms (REPLICA_MAX_STALENESS_MS).`
  }
  let isStarted = false
  let isClosing = false
  /** Whether this process still has to make good what one before it has left. */
  let areErasuresOpen = false
  let takingOver = Promise.resolve()
  const duties = new Duties((error) => {
    // What closing has broken off, the next start does.
    if (!isClosing) log.warn({ error }, 'Not all is done that falls to this process; it is tried again')
  })
  const inEach = async (all: readonly Project[], work: (projectId: number) => Promise<unknown>) => {
    for (const { projectId } of all) {
      await duties.attempt(async () => {
        if (!gate.isClosed(projectId)) await work(projectId)
      })
    }
  }
  /** What falls to the process that owns the folder, of which there is one. */
  const actAsOwner = async () => {
    wordBacklog.start()
    scheduleRemoval()
    await duties.attempt(async () => {
      // Before any erasure, which has no business with a table that an earlier version made.
      for (const { projectId } of await projects.list())
        if (!gate.isClosed(projectId)) await refill(projectId)
      await erasure.finish()
      areErasuresOpen = false
    })
    await duties.attempt(async () => {
      // Whoever held leases on this file is gone, and embedding twice is harmless.
      if (database.isLocal) await inEach(await projects.list(), (projectId) => indexer.endLeases(projectId))
    })
    if (isClosing) return
    // Writing leaves copies of moved cells behind; an erasure that finds few of them is done sooner.
    if (database.isLocal) {
      sweeper.sweep().catch((error) => log.debug({ error }, 'The database was not swept'))
    }
  }
  const takeOver = async () => {
    log.info('This process owns the folder now')
    await duties.attempt(async () => database.own())
    if (database.isLocal) await duties.attempt(() => database.keepReserve())
    await duties.attempt(() => index.takeFiles())
    await actAsOwner()
  }

  return {
    config,
    log,
    database,
    metrics,
    embedder,
    console: await createConsole({
      config,
      log,
      database,
      audit,
      projects,
      sessionSecret: secrets.sessionSecret,
      now,
    }),
    projects,
    removals,
    keys: new Keys({
      read,
      // A key can be revoked also on a full disk.
      write: freeing,
      dataVersion: database.dataVersion,
      audit,
      now,
      onNoteFailed: (error) => log.warn({ error }, "A key's last use was not noted"),
    }),
    calls: new Calls({ store, recordHash, audit, scheduleErasure, now }),
    ingest: new Ingest({ store, recordHash, callBytesMax: config.callBytesMax, now }),
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
    get ownsFolder() {
      return owner.isOwner
    },
    async start() {
      if (owner.isOwner && database.isLocal) await database.keepReserve()
      areErasuresOpen = owner.isOwner && database.isLocal
      const all = await projects.list()
      // A node starts without its primary as well, and on a full disk.
      await inEach(all, (projectId) => indexer.adoptSpace(projectId))
      await follower.start()
      for (const { projectId } of all) await index.reconcile(projectId)
      if (owner.isOwner) await actAsOwner()
      for (const { projectId } of all) indexer.wake(projectId)
      isStarted = true
      if (takesFolder) {
        owner.takeLater(() => {
          takingOver = takeOver()
        })
      }
    },
    staleBecause,
    async notReadyBecause() {
      if (!isStarted) return 'Start-up is not finished yet.'
      if (areErasuresOpen) return 'What was deleted before the start is not erased yet.'
      const stale = staleBecause()
      if (stale) return stale
      if (database.isDamaged()) return 'The replica is damaged. A restart fetches it anew from the primary.'
      if (!database.takesWrites()) return 'The writer is starting again.'
      try {
        await read.all(sql`select 1`)
        return null
      } catch (error) {
        log.error({ error }, 'The database does not answer')
        return 'The database does not answer.'
      }
    },
    async close() {
      isClosing = true
      owner.stopWaiting()
      follower.close()
      search.close()
      metrics.close()
      await duties.close()
      await indexer.close()
      await textWork.close()
      await wordBacklog.close()
      // They break off, and at once, since they wait for each other: there is to be time to save the index.
      await Promise.all([removals.close(), erasure.close(), sweeper.close(), takingOver])
      await index.close()
      await database.close()
      owner.release()
    },
  }
}

/** The folder holds secrets and people's words; one that was there before may be open to others. */
function keepToOwner(folder: string): void {
  try {
    chmodSync(folder, 0o700)
  } catch {
    // Somebody else's folder, such as a mounted volume: its owner decides, and our files are 0600 all the same.
  }
}

async function totals(index: VectorIndex) {
  const sum = { vectors: 0, tombstones: 0, fileBytes: 0 }
  for (const state of await index.states()) {
    sum.vectors += state.vectors
    sum.tombstones += state.tombstones
    sum.fileBytes += state.fileBytes
  }
  return sum
}
