import { existsSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { Thread } from '../threads/thread.ts'
import type { ReplicaLocation } from './location.ts'
import { OwnerLine, OwnerSocket } from './owner-socket.ts'
import type { SyncApi, SyncData } from './sync-worker.ts'

const askAgainMs = 50
const askWithinMs = 3_000

export interface ReplicationStatus {
  /** How long ago the newest sync that succeeded began; null before the first. */
  lagMs: number | null
  /** Milliseconds since 1970. */
  lastSyncAt: number | null
  /** Syncs that failed since the process started. */
  failures: number
}

interface ReplicaOptions {
  location: ReplicaLocation
  /** Where the processes that share the replica find each other. */
  folder: string
  now: () => number
  /** Told of the first failure of a row, and of the end of the row. */
  onChange: (problem: string | null) => void
  /** Called for each place that cannot hold the socket on which the others ask this process. */
  onSocketFailure: (error: unknown) => void
}

/**
 * Keeps a replica's file up to date. One process does so, the owner of the folder: two that sync one file damage
 * it. The others ask the owner.
 */
export class Replica {
  readonly #options: ReplicaOptions
  /** Null in a process that does not own the folder. */
  #thread: Thread<SyncApi, SyncData> | null = null
  #socket: OwnerSocket | null = null
  #line: OwnerLine | null = null
  #timer: ReturnType<typeof setTimeout> | undefined
  #running: Promise<void> | null = null
  #queued: Promise<void> | null = null
  #lastSyncAt: number | null = null
  #failures = 0
  #hasProblem = false
  #isClosed = false

  constructor(options: ReplicaOptions) {
    this.#options = options
  }

  /** From now on this process syncs. */
  own(): void {
    if (this.#thread || this.#isClosed) return
    const { location, folder, onSocketFailure } = this.#options
    prepareFile(location.file)
    this.#line?.close()
    this.#line = null
    this.#thread = new Thread({
      script: new URL('./sync-worker.ts', import.meta.url),
      name: 'The thread that syncs',
      data: () => ({ file: location.file, primary: location.primary }),
    })
    this.#socket = new OwnerSocket({
      folder,
      answer: (question) => this.#answer(question),
      onFailure: onSocketFailure,
    })
  }

  /** Syncs from now on, again and again. */
  start(): void {
    this.#schedule(0)
  }

  /** Whether the file is to be fetched anew, which the next start does. */
  get isDamaged(): boolean {
    return existsSync(this.#options.location.file + damageSuffix)
  }

  get status(): ReplicationStatus {
    const lagMs = this.#lastSyncAt === null ? null : Math.max(0, this.#options.now() - this.#lastSyncAt)
    return { lagMs, lastSyncAt: this.#lastSyncAt, failures: this.#failures }
  }

  /** Resolves when the file has everything that the primary had when this was called. */
  sync(): Promise<void> {
    return this.#thread ? this.#syncOnce({ probes: false }) : this.#askOwner('sync')
  }

  /**
   * The same after a write that the primary has committed, as often as it takes while the write's answer is waited for:
   * a primary that is just putting its log away has for a moment nothing to give ("snapshot not found").
   */
  async syncWrite(): Promise<void> {
    const deadline = performance.now() + askWithinMs
    for (;;) {
      try {
        return await this.sync()
      } catch (error) {
        if (this.#isClosed || performance.now() > deadline) throw error
        await new Promise((resolve) => setTimeout(resolve, askAgainMs))
      }
    }
  }

  /** The same, for when the primary may be away: fails within about a second. */
  trySync(): Promise<void> {
    return this.#thread ? this.#syncOnce({ probes: true }) : this.#askOwner('sync')
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#timer)
    this.#socket?.close()
    this.#line?.close()
    await this.#thread?.close()
  }

  /** Callers that come before a sync has begun share it. */
  #syncOnce({ probes }: { probes: boolean }): Promise<void> {
    this.#queued ??= this.#afterRunning(probes)
    return this.#queued
  }

  async #afterRunning(probes: boolean): Promise<void> {
    await this.#idle()
    this.#queued = null
    this.#running = this.#run(probes).finally(() => {
      this.#running = null
    })
    return this.#running
  }

  async #idle(): Promise<void> {
    while (this.#running) await this.#running.catch(() => undefined)
  }

  async #run(probes: boolean): Promise<void> {
    if (!this.#thread) throw new Error('Another process syncs this replica')
    const startedAt = this.#options.now()
    try {
      await this.#thread.ask('sync', probes)
      this.#lastSyncAt = startedAt
      this.#note(null)
    } catch (error) {
      this.#failures++
      if (meansDamage(error)) markDamaged(this.#options.location.file)
      this.#note(error instanceof Error ? error.message : String(error))
      throw error
    }
  }

  #note(problem: string | null): void {
    if (this.#hasProblem === (problem !== null)) return
    this.#hasProblem = problem !== null
    if (!this.#isClosed) this.#options.onChange(problem)
  }

  #schedule(delayMs: number): void {
    if (this.#isClosed) return
    this.#timer = setTimeout(() => {
      const turn = this.#thread ? this.trySync() : this.#askOwner('status')
      // Failures are counted and told where they happen.
      turn.catch(() => undefined).finally(() => this.#schedule(this.#options.location.syncIntervalMs))
    }, delayMs)
    this.#timer.unref()
  }

  async #answer(question: string): Promise<object> {
    const error =
      question === 'sync'
        ? await this.sync().then(
            () => null,
            (reason) => String(reason),
          )
        : null
    return { error, lastSyncAt: this.#lastSyncAt, failures: this.#failures }
  }

  /** An owner that has just died is replaced within the time that is waited for it. */
  async #askOwner(question: 'sync' | 'status'): Promise<void> {
    const deadline = performance.now() + askWithinMs
    for (;;) {
      try {
        return await this.#askOnce(question)
      } catch (error) {
        if (this.#thread && question === 'sync') return this.sync()
        if (this.#isClosed || this.#thread || performance.now() > deadline) throw error
        await new Promise((resolve) => setTimeout(resolve, askAgainMs))
      }
    }
  }

  async #askOnce(question: 'sync' | 'status'): Promise<void> {
    this.#line ??= new OwnerLine(this.#options.folder)
    const reply = (await this.#line.ask(question)) as Omit<ReplicationStatus, 'lagMs'> & {
      error: string | null
    }
    this.#lastSyncAt = reply.lastSyncAt
    this.#failures = reply.failures
    if (reply.error !== null) throw new Error(reply.error)
  }
}

/** How far a replica is, as libSQL keeps it beside the database. */
const progressSuffix = '-client_wal_index'
/** A file beside a replica that is to be fetched anew. */
const damageSuffix = '-damaged'

/** Whether a database file is kept up to date from a primary, so that nothing else may write to it. */
export function isReplica(file: string): boolean {
  return existsSync(file + progressSuffix)
}

function meansDamage(error: unknown): boolean {
  return /DatabaseCorrupt|malformed|NotADatabase/.test(String(error))
}

function markDamaged(file: string): void {
  writeFileSync(file + damageSuffix, '')
}

/**
 * Sees that the file is a replica or absent.
 * @throws for a database that is none, which a sync would have to throw away
 */
function prepareFile(file: string): void {
  const hasRows = existsSync(file) && statSync(file).size > 0
  const isDamaged = existsSync(file + damageSuffix)
  if (hasRows && !isReplica(file)) {
    throw new Error(
      `${file} is a database of its own, not a replica. Move it away, or leave DATABASE_SYNC_URL unset to use it.`,
    )
  }
  if (hasRows && !isDamaged) return
  // Progress without rows would have libSQL believe that it has them.
  for (const suffix of ['', '-wal', '-shm', progressSuffix, damageSuffix])
    rmSync(file + suffix, { force: true })
}
