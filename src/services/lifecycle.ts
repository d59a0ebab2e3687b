import { sql } from 'drizzle-orm'
import type { WordBacklog } from '../calls/word-backlog.ts'
import type { FolderOwner } from '../db/folder-owner.ts'
import type { OpenDatabase } from '../db/open.ts'
import type { Erasure } from '../erasure/erasure.ts'
import type { ProjectErasure } from '../erasure/project-erasure.ts'
import type { Sweeper } from '../erasure/sweeper.ts'
import type { Follower } from '../knowledge/follower.ts'
import type { VectorIndex } from '../knowledge/index/vector-index.ts'
import type { Indexer } from '../knowledge/indexer.ts'
import type { Search } from '../knowledge/search/search.ts'
import type { TextThreads } from '../knowledge/text-threads.ts'
import type { Log } from '../observability/log.ts'
import type { Metrics } from '../observability/metrics.ts'
import type { Projects } from '../projects/projects.ts'
import { Background } from '../threads/background.ts'

const retryMs = 2_000

interface LifecycleOptions {
  config: { readonly replicaStalenessMsMax: number }
  log: Log
  owner: FolderOwner
  database: OpenDatabase
  projects: Projects
  follower: Follower
  indexer: Indexer
  index: VectorIndex
  search: Search
  textThreads: TextThreads
  wordBacklog: WordBacklog
  erasure: Erasure
  projectErasure: ProjectErasure
  sweeper: Sweeper
  metrics: Metrics
  /** Whether to take over the folder when the process that owns it ends. */
  takesFolder: boolean
}

type Step = () => unknown

/** What happens over the life of a process: start, taking over the folder, readiness, close. */
export class Lifecycle {
  readonly #options: LifecycleOptions
  /** What the process that owns the folder does once; tried again until all of it has succeeded. */
  readonly #owning: Background
  #isStarted = false
  /** Whether deletions of an earlier process are still to be erased. */
  #areErasuresOpen = false

  constructor(options: LifecycleOptions) {
    this.#options = options
    this.#owning = new Background({
      work: async (signal) => {
        await this.#actAsOwner(signal)
        return null
      },
      delayMs: 0,
      retryMs,
      onFailure: (error) => options.log.warn({ error }, "The folder owner's work failed; it is tried again"),
    })
  }

  /** Finishes what an earlier process left open, then follows the database. */
  async start(): Promise<void> {
    const { owner, database, projects, indexer, follower, index, log, takesFolder } = this.#options
    this.#areErasuresOpen = owner.isOwner && database.isLocal
    const all = await projects.list()
    await follower.start()
    for (const { projectId } of all) await index.reconcile(projectId)
    // What fails is tried again in the background: a node also starts without its primary, and on a full disk.
    if (owner.isOwner) await this.#owning.now().catch(() => undefined)
    for (const { projectId } of all) indexer.wake(projectId)
    this.#isStarted = true
    if (!takesFolder) return
    owner.takeLater(() => {
      log.info('This process owns the folder now')
      this.#owning.soon()
    })
  }

  /** Why a replica is too old to be served, in a sentence; null when it is not. */
  staleBecause(): string | null {
    const { database, config } = this.#options
    const stalenessMsMax = config.replicaStalenessMsMax
    const replication = stalenessMsMax > 0 ? database.replication() : null
    if (!replication || (replication.lagMs !== null && replication.lagMs <= stalenessMsMax)) return null
    return `This replica has not been brought up to date for more than ${stalenessMsMax} ms (REPLICA_MAX_STALENESS_MS).`
  }

  /** Why the process is not ready for requests, in a sentence; null when it is. */
  async notReadyBecause(): Promise<string | null> {
    const { database, log } = this.#options
    if (!this.#isStarted) return 'Start-up is not finished yet.'
    if (this.#areErasuresOpen) return 'What was deleted before the start is not erased yet.'
    const stale = this.staleBecause()
    if (stale) return stale
    if (database.isDamaged()) return 'The replica is damaged. A restart fetches it anew from the primary.'
    if (!database.takesWrites()) return 'The writer is starting again.'
    try {
      await database.read.all(sql`select 1`)
      return null
    } catch (error) {
      log.error({ error }, 'The database does not answer')
      return 'The database does not answer.'
    }
  }

  /** Saves and closes everything, in the order in which it depends on each other. */
  async close(): Promise<void> {
    const { owner, database, follower, indexer, index, search, textThreads } = this.#options
    const { metrics, wordBacklog, projectErasure, erasure, sweeper } = this.#options
    owner.stopWaiting()
    await follower.close()
    search.close()
    metrics.close()
    // What the others ask of the index from now on is refused, so that none of them waits until it is filled.
    const indexSaved = index.close()
    await indexer.close()
    await textThreads.close()
    await wordBacklog.close()
    // These wait for each other, so they are aborted together.
    await Promise.all([this.#owning.close(), projectErasure.close(), erasure.close(), sweeper.close()])
    await indexSaved
    await database.close()
    owner.release()
  }

  /** The work of the one process that owns the folder. Repeating it does no harm. */
  async #actAsOwner(signal: AbortSignal): Promise<void> {
    const { database, index, wordBacklog, projectErasure, sweeper, log } = this.#options
    await runAll(signal, [
      () => database.own(),
      () => (database.isLocal ? database.keepBallast() : null),
      () => index.takeFiles(),
      () => wordBacklog.start(),
      () => projectErasure.schedule(),
      () => this.#finishErasures(),
      // Whoever held leases on this file is gone, and embedding twice does no harm.
      () => (database.isLocal ? this.#endLeases(signal) : null),
    ])
    // Writing leaves copies of moved cells behind; an erasure that finds few of them is done sooner.
    if (database.isLocal)
      sweeper.sweep(signal).catch((error) => log.debug({ error }, 'The database was not swept'))
  }

  async #finishErasures(): Promise<void> {
    await this.#options.erasure.finish()
    this.#areErasuresOpen = false
  }

  async #endLeases(signal: AbortSignal): Promise<void> {
    const { projects, indexer } = this.#options
    const all = await projects.list()
    await runAll(
      signal,
      all.map(
        ({ projectId }) =>
          () =>
            indexer.endLeases(projectId),
      ),
    )
  }
}

/** Runs the steps in order, also those after one that fails. @throws the first failure */
async function runAll(signal: AbortSignal, steps: readonly Step[]): Promise<void> {
  const failures: unknown[] = []
  for (const step of steps) {
    signal.throwIfAborted()
    try {
      await step()
    } catch (error) {
      failures.push(error)
    }
  }
  if (failures.length > 0) throw failures[0]
}
