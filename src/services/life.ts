import { sql } from 'drizzle-orm'
import type { Core } from '../core/core.ts'
import type { Erasure } from '../erasure/erasure.ts'
import type { Follower } from '../knowledge/indexing/follower.ts'
import type { Indexer } from '../knowledge/indexing/indexer.ts'
import { Background } from '../threads/background.ts'

const retryMs = 2_000

/** What happens over the life of a process: start, taking over the folder, readiness. */
export class Life {
  readonly #parts: Core & { erasure: Erasure; follower: Follower; indexer: Indexer }
  /** What the owner of the folder does once, retried until all of it succeeds. */
  readonly #owning: Background
  #isStarted = false
  /** Whether deletions of an earlier process have yet to be erased. */
  #areErasuresOpen = false

  constructor(core: Core, parts: { erasure: Erasure; follower: Follower; indexer: Indexer }) {
    this.#parts = { ...core, ...parts }
    this.#owning = new Background({
      work: (signal) => this.#own(signal),
      retryMs,
      onFailure: (error) =>
        core.log.warn({ error }, "The work of the folder's owner failed and will be tried again"),
    })
    core.onClose(() => this.#owning.close())
  }

  /** Finishes what an earlier process left open, then follows the database. */
  async start(): Promise<void> {
    const { owner, database, indexer, follower, erasure, log, takesFolder } = this.#parts
    this.#areErasuresOpen = owner.isOwner && database.isLocal && (await erasure.isAnyOpen())
    await follower.start()
    this.#isStarted = true
    // Failures are retried in the background, since a node must start without its primary and on a full disk, too.
    if (owner.isOwner) await this.#owning.now().catch(() => undefined)
    await indexer.wakeAll()
    if (!takesFolder) return
    owner.takeLater(() => {
      log.info('This process owns the folder now')
      this.#owning.soon()
    })
  }

  /** Why a replica is too stale to be served, in a sentence; null when it is not. */
  staleBecause(): string | null {
    const { database, config } = this.#parts
    const stalenessMsMax = config.replicaStalenessMsMax
    const replication = stalenessMsMax > 0 ? database.replication() : null
    if (!replication || (replication.lagMs !== null && replication.lagMs <= stalenessMsMax)) return null
    return `This replica has not synced for more than ${stalenessMsMax} ms (REPLICA_MAX_STALENESS_MS).`
  }

  /** Why the process is not ready for requests, in a sentence; null when it is. */
  async notReadyBecause(): Promise<string | null> {
    const { database, log } = this.#parts
    if (!this.#isStarted) return 'Startup is not finished yet.'
    if (this.#areErasuresOpen) return 'Deletions from before the start are not erased yet.'
    const stale = this.staleBecause()
    if (stale) return stale
    const refusal = database.refusesWritesBecause()
    if (refusal) return refusal
    try {
      await database.read.all(sql`select 1 from meta limit 1`)
      return null
    } catch (error) {
      const answer = database.answerTo(error)
      if (answer) return answer.detail
      log.error({ error }, 'The database does not answer')
      return 'The database does not answer.'
    }
  }

  /** All steps in order, even after one fails, then the jobs. @throws the first failure */
  async #own(signal: AbortSignal): Promise<void> {
    const { database, erasure, jobs, ownSteps } = this.#parts
    const failures: unknown[] = []
    const finish = async () => {
      // A sweep of a large file takes a minute. Until it is done, `problem` says so and receipts are pending.
      if (database.isSwept()) await erasure.finish()
      this.#areErasuresOpen = false
    }
    for (const step of [...ownSteps(), () => jobs.start(), finish]) {
      signal.throwIfAborted()
      await Promise.resolve()
        .then(step)
        .catch((error) => failures.push(error))
    }
    if (failures.length > 0) throw failures[0]
  }
}
