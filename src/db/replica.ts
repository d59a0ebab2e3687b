import { existsSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { Background } from '../threads/background.ts'
import { Thread } from '../threads/thread.ts'
import type { ReplicaLocation } from './location.ts'
import type { DatabaseLog } from './log.ts'
import { askOwner, OwnerServer } from './owner-ipc.ts'
import { retry } from './retry.ts'
import type { SyncApi, SyncData } from './sync-worker.ts'

const retryMs = 50
const retryWithinMs = 3_000

export interface ReplicationStatus {
  /** How long ago the newest successful sync began; null before the first. */
  lagMs: number | null
  lastSyncAt: number | null
  /** Syncs that failed since the process started. */
  failures: number
}

interface ReplicaOptions {
  location: ReplicaLocation
  /** Where the processes that share the replica find each other. */
  folder: string
  now: () => number
  log: DatabaseLog
}

type Question = 'sync' | 'status'
type Reply = Omit<ReplicationStatus, 'lagMs'> & { error: string | null; stoppedBecause: string | null }

/**
 * Keeps a replica's file up to date. Only the owner of the folder syncs, since two processes that sync one file damage
 * it. The others ask the owner.
 */
export class Replica {
  readonly #options: ReplicaOptions
  /** Syncs when asked to, and at every interval. */
  readonly #syncing: Background
  readonly #closing = new AbortController()
  /** Null in a process that does not own the folder. */
  #thread: Thread<SyncApi, SyncData> | null = null
  #server: OwnerServer | null = null
  #lastSyncAt: number | null = null
  #failures = 0
  #hasProblem = false
  #stoppedBecause: string | null = null

  constructor(options: ReplicaOptions) {
    this.#options = options
    const { syncIntervalMs } = options.location
    this.#syncing = new Background({
      work: () => (this.#thread ? this.#runSync(this.#thread) : this.#askOwner('status')),
      everyMs: syncIntervalMs,
      retryMs: syncIntervalMs,
      // Failures are counted and reported where they happen.
      onFailure: () => undefined,
    })
  }

  /** Lets this process sync from now on. */
  own(): void {
    if (this.#thread || this.#syncing.isClosed) return
    const { location, folder, log } = this.#options
    prepareFile(location.file)
    this.#thread = new Thread({
      script: new URL('./sync-worker.ts', import.meta.url),
      name: 'The sync thread',
      data: () => ({ file: location.file, primary: location.primary }),
    })
    this.#server = new OwnerServer({
      folder,
      answer: (question) => this.#answer(question),
      onFailure: (error) =>
        log.warn({ error }, 'Other processes on this folder cannot reach this one through this socket'),
    })
  }

  /** Syncs from now on at every interval. */
  start(): void {
    this.#syncing.soon()
  }

  /** Whether the next start must fetch the file anew. */
  get isDamaged(): boolean {
    return existsSync(this.#options.location.file + damageSuffix)
  }

  /** Why nothing is synced or written: the primary has another database. A sentence; null while it has the replica's. */
  get stoppedBecause(): string | null {
    return this.#stoppedBecause
  }

  get status(): ReplicationStatus {
    const lagMs = this.#lastSyncAt === null ? null : Math.max(0, this.#options.now() - this.#lastSyncAt)
    return { lagMs, lastSyncAt: this.#lastSyncAt, failures: this.#failures }
  }

  /** Resolves when the file has everything that the primary had at the time of the call. */
  sync(): Promise<void> {
    return this.#thread ? this.#syncing.now() : this.#askOwner('sync')
  }

  /**
   * Syncs after a write. Retries while the client waits, because a primary that is checkpointing its log briefly has no
   * snapshot ("snapshot not found").
   */
  syncWrite(): Promise<void> {
    return this.#retry(() => this.sync())
  }

  async close(): Promise<void> {
    this.#closing.abort()
    const closing = this.#syncing.close()
    this.#server?.close()
    await this.#thread?.close()
    await closing
  }

  async #runSync(thread: Thread<SyncApi, SyncData>): Promise<void> {
    const startedAt = this.#options.now()
    try {
      const refusal = await thread.ask('sync')
      if (refusal !== null) throw this.#stop(refusal)
      this.#lastSyncAt = startedAt
      this.#stoppedBecause = null
      this.#report(null)
    } catch (error) {
      this.#failures++
      if (/DatabaseCorrupt|malformed|NotADatabase/.test(String(error)))
        writeFileSync(this.#options.location.file + damageSuffix, '')
      this.#report(error instanceof Error ? error.message : String(error))
      throw error
    }
  }

  #report(problem: string | null): void {
    if (this.#hasProblem === (problem !== null)) return
    this.#hasProblem = problem !== null
    const { log } = this.#options
    if (this.#closing.signal.aborted) return
    if (problem === null) log.info('The replica is following its primary again')
    else log.warn({ problem }, 'The replica cannot sync and serves the data it has')
  }

  #stop(reason: string): Error {
    const advice = 'See "When the primary was replaced" in the guide on replicas.'
    if (this.#stoppedBecause === null) this.#options.log.error({ reason, advice }, 'The replica has stopped')
    this.#stoppedBecause = reason
    this.#hasProblem = true
    return new Error(reason)
  }

  async #answer(question: string): Promise<Reply> {
    let error: string | null = null
    if (question === 'sync') await this.sync().catch((reason) => (error = String(reason)))
    const stoppedBecause = this.#stoppedBecause
    return { error, lastSyncAt: this.#lastSyncAt, failures: this.#failures, stoppedBecause }
  }

  /** Retries, since an owner that has just died is soon replaced, perhaps by this process. */
  #askOwner(question: Question): Promise<void> {
    return this.#retry(async () => {
      if (this.#thread) return question === 'sync' ? await this.sync() : undefined
      const reply = (await askOwner(this.#options.folder, question, this.#closing)) as Reply
      this.#lastSyncAt = reply.lastSyncAt
      this.#failures = reply.failures
      this.#stoppedBecause = reply.stoppedBecause
      if (reply.error !== null) throw new Error(reply.error)
    })
  }

  #retry(work: () => Promise<void>): Promise<void> {
    return retry(work, {
      withinMs: retryWithinMs,
      delayMs: retryMs,
      isWorthIt: () => !this.#closing.signal.aborted && this.#stoppedBecause === null,
    })
  }
}

/** Where libSQL notes beside the database how far a replica has come. */
const progressSuffix = '-client_wal_index'
/** Marks a replica that the next start fetches anew. */
const damageSuffix = '-damaged'

/** Whether a database file is a replica, which only syncs may write to. */
export function isReplica(file: string): boolean {
  return existsSync(file + progressSuffix)
}

/** Deletes a damaged replica. @throws for a database that is not a replica, which a sync would overwrite */
function prepareFile(file: string): void {
  const hasRows = existsSync(file) && statSync(file).size > 0
  const isDamaged = existsSync(file + damageSuffix)
  if (hasRows && !isReplica(file)) {
    throw new Error(
      `${file} is a database of its own, not a replica. Move it away, or leave DATABASE_SYNC_URL unset to use it.`,
    )
  }
  if (hasRows && !isDamaged) return
  // Without this, libSQL would take its progress file as proof that it has the rows.
  for (const suffix of ['', '-wal', '-shm', progressSuffix, damageSuffix])
    rmSync(file + suffix, { force: true })
}
