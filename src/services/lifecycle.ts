import { sql } from 'drizzle-orm'
import { ballastBytes } from '../db/ballast-file.ts'
import { Background } from '../threads/background.ts'
import type { Common, Parts } from './parts.ts'

const retryMs = 2_000

interface LifecycleOptions extends Common, Parts {
  /** Whether to take over the folder when its owner ends. */
  takesFolder: boolean
}

/** What happens over the life of a process: start, taking over the folder, readiness, close. */
export class Lifecycle {
  readonly #options: LifecycleOptions
  /** What the owner of the folder does once, retried until all of it succeeds. */
  readonly #owning: Background
  #isStarted = false
  /** Whether deletions of an earlier process have yet to be erased. */
  #areErasuresOpen = false

  constructor(options: LifecycleOptions) {
    this.#options = options
    this.#owning = new Background({
      work: (signal) => this.#actAsOwner(signal),
      retryMs,
      onFailure: (error) =>
        options.log.warn({ error }, "The work of the folder's owner failed and will be tried again"),
    })
  }

  /** Finishes what an earlier process left open, then follows the database. */
  async start(): Promise<void> {
    const { owner, database, indexer, follower, erasure, log, takesFolder } = this.#options
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
    const { database, config } = this.#options
    const stalenessMsMax = config.replicaStalenessMsMax
    const replication = stalenessMsMax > 0 ? database.replication() : null
    if (!replication || (replication.lagMs !== null && replication.lagMs <= stalenessMsMax)) return null
    return `This replica has not synced for more than ${stalenessMsMax} ms (REPLICA_MAX_STALENESS_MS).`
  }

  /** Why the process is not ready for requests, in a sentence; null when it is. */
  async notReadyBecause(): Promise<string | null> {
    const { database, log } = this.#options
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

  /** Saves and closes all parts, each before those that it depends on. */
  async close(): Promise<void> {
    const parts = this.#options
    parts.owner.stopWaiting()
    await parts.alertWatch.close()
    await parts.webhookSender.close()
    await parts.recordingFetcher.close()
    await parts.analyzer?.close()
    await parts.retention.close()
    await parts.recordingExpiry.close()
    // Stops the thread that the backlog waits for.
    await Promise.all([parts.peaksBacklog.close(), parts.audioThreads.close()])
    await parts.silence.close()
    await parts.setTasks.close()
    await parts.questionChecks.close()
    await parts.changeWatch.close()
    await parts.follower.close()
    await parts.callSessions.close()
    parts.search.close()
    parts.earlyEmbedder.close()
    parts.metrics.close()
    // Starts no more runs. These parts wait for each other, so they are aborted together.
    const { erasureRequests, projectErasure, erasure, sweeper } = parts
    const aborting = [this.#owning, erasureRequests, projectErasure, erasure, sweeper]
    const aborted = aborting.map((part) => part.close())
    // From now on the index refuses requests, so that no other part waits until it is filled.
    const indexSaved = parts.index.close()
    await parts.indexer.close()
    await parts.textThreads.close()
    await parts.textMatcher.close()
    await parts.passes.close()
    await parts.embedder.close?.()
    await parts.files.close()
    await parts.wordBacklog.close()
    await parts.eventCounts.close()
    await parts.expiry.close()
    await parts.questions.close()
    await Promise.all([...aborted, indexSaved])
    await parts.database.close()
    parts.owner.release()
  }

  /** The work of the folder's owner. Repeating it does no harm. */
  async #actAsOwner(signal: AbortSignal): Promise<void> {
    const { config, database, indexer, sweeper, ...parts } = this.#options
    await runAll(signal, [
      () => database.own(),
      () => (database.isLocal ? database.keepBallast(ballastBytes(config.callBytesMax)) : null),
      () => (database.isLocal ? sweeper.start() : null),
      () => parts.index.takeFiles(),
      // What other machines have deleted is no open erasure of this one.
      () => (database.isLocal ? null : parts.follower.followAll()),
      () => parts.removedFiles.clearDrafts(),
      () => parts.wordBacklog.schedule(),
      () => parts.callSessions.start(),
      () => parts.webhookSender.start(),
      () => parts.alertWatch.start(),
      () => parts.recordingFetcher.start(),
      () => parts.analyzer?.start(),
      () => parts.projectErasure.schedule(),
      () => parts.expiry.soon(),
      () => parts.retention.schedule(),
      () => parts.recordingExpiry.schedule(),
      () => parts.peaksBacklog.schedule(),
      () => parts.silence.start(),
      () => parts.setTasks.start(),
      () => parts.questionChecks.start(),
      async () => {
        // A sweep of a large file takes a minute. Until it is done, `problem` says so and receipts are pending.
        if (database.isSwept()) await parts.erasure.finish()
        else parts.erasure.schedule()
        this.#areErasuresOpen = false
      },
      () => parts.erasureRequests.schedule(),
      // The processes that held leases have ended, and embedding twice does no harm.
      () => (database.isLocal ? indexer.endLeases() : null),
    ])
  }
}

/** Runs all steps in order, even after one fails. @throws the first failure */
async function runAll(signal: AbortSignal, steps: readonly (() => unknown)[]): Promise<void> {
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
