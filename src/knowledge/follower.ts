import { createHash } from 'node:crypto'
import { hostname } from 'node:os'
import { sql } from 'drizzle-orm'
import { readMeta, removeMeta } from '../db/meta.ts'
import type { ReadDatabase } from '../db/reader.ts'
import type { WriteDatabase } from '../db/writer.ts'
import { readPendingProjects } from './pending.ts'

const rebuildRequestPrefix = 'index_rebuild:'
const digestChars = 16
/** What keeps failing is tried this often at least. */
const retryDelayMsMax = 30_000

/** Names the row in `meta` by which a command asks the process that owns a folder's index files for a rebuild. */
export function rebuildRequestName(folder: string, projectId: number | string = ''): string {
  // Nodes on other machines, whose folders may be called the same, have the same rows.
  const digest = createHash('sha256').update(`${hostname()} ${folder}`).digest('hex').slice(0, digestChars)
  return `${rebuildRequestPrefix}${digest}:${projectId}`
}

interface FollowerOptions {
  read: ReadDatabase
  write: WriteDatabase
  /** Changes when the rows may have: see Reader.dataVersion. */
  dataVersion: () => number
  pollMs: number
  /** Whose index files this process may own. */
  folder: string
  reconcile: (projectId: number) => Promise<unknown>
  /** Null in a process that does not save index files: another answers requests for a rebuild. */
  rebuild: () => ((projectId: number) => Promise<unknown>) | null
  /** Chunks may be pending that another process wrote. */
  wakeIndexer: (projectId: number) => void
  /** Deletions may be open that another process committed. */
  scheduleErasure: () => void
  /** Another process may have deleted a project that was there. */
  onProjectGone: (projectId: number) => void
  onFailure: (error: unknown) => void
}

type Attempt = (step: string, work: () => Promise<unknown>) => Promise<void>

interface Failure {
  delayMs: number
  /** By `performance.now()`. */
  againAt: number
}

/**
 * Notices what other processes change in the database file, such as an import on the command line: chunks to
 * embed, vectors to index, deletions to scrub. What fails holds up nothing else, and is tried again, ever later.
 */
export class Follower {
  readonly #options: FollowerOptions
  readonly #versions = new Map<number, number>()
  /** Changes of this process since the version was last read: no news to us. */
  readonly #ownChanges = new Map<number, number>()
  readonly #suspects = new Set<number>()
  /** What failed at the last look, by the name of the step. */
  #failures: ReadonlyMap<string, Failure> = new Map()
  #timer: ReturnType<typeof setTimeout> | undefined
  #dataVersion = -1
  #isClosed = false

  constructor(options: FollowerOptions) {
    this.#options = options
  }

  /** This process has just committed one change of the project's vectors. */
  noteOwnChange(projectId: number): void {
    this.#ownChanges.set(projectId, (this.#ownChanges.get(projectId) ?? 0) + 1)
  }

  /** The index may lack a change of the project: compare it with the rows soon. */
  distrust(projectId: number): void {
    this.#versions.set(projectId, -1)
    this.#suspects.add(projectId)
  }

  /** To be called before the indexes are reconciled at start: what changes from then on is news. */
  async start(): Promise<void> {
    for (const { id, version } of await this.#readVersions()) this.#versions.set(id, version)
    this.#ownChanges.clear()
    this.#schedule()
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#timer)
  }

  #schedule(): void {
    if (this.#isClosed) return
    this.#timer = setTimeout(() => {
      this.#poll()
        .catch(this.#options.onFailure)
        .finally(() => this.#schedule())
    }, this.#options.pollMs)
    this.#timer.unref()
  }

  async #poll(): Promise<void> {
    const dataVersion = this.#options.dataVersion()
    const isNews = dataVersion !== this.#dataVersion
    if (!isNews && this.#suspects.size === 0 && this.#failures.size === 0) return
    this.#dataVersion = dataVersion
    if (isNews) this.#options.scheduleErasure()
    const failures = new Map<string, Failure>()
    const attempt: Attempt = (step, work) => this.#attempt(failures, step, work)
    await attempt('versions', () => this.#compareAll(attempt))
    await attempt('pending', () => this.#wakeIndexer())
    await attempt('requests', () => this.#answerRebuildRequests(attempt))
    // A step that there is no more, such as that of a project that is gone, is forgotten.
    this.#failures = failures
  }

  /** Does one step, if it has not just failed. */
  async #attempt(failures: Map<string, Failure>, step: string, work: () => Promise<unknown>): Promise<void> {
    const last = this.#failures.get(step)
    if (last && performance.now() < last.againAt) {
      failures.set(step, last)
      return
    }
    try {
      await work()
    } catch (error) {
      const delayMs = Math.min((last?.delayMs ?? this.#options.pollMs) * 2, retryDelayMsMax)
      failures.set(step, { delayMs, againAt: performance.now() + delayMs })
      this.#options.onFailure(error)
    }
  }

  async #compareAll(attempt: Attempt): Promise<void> {
    const there = await this.#readVersions()
    this.#leaveGone(new Set(there.map(({ id }) => id)))
    for (const { id, version } of there) await attempt(`project ${id}`, () => this.#compare(id, version))
  }

  #leaveGone(there: ReadonlySet<number>): void {
    for (const projectId of this.#versions.keys()) {
      if (there.has(projectId)) continue
      this.#versions.delete(projectId)
      this.#ownChanges.delete(projectId)
      this.#suspects.delete(projectId)
      this.#options.onProjectGone(projectId)
    }
  }

  /** A difference counts when it is there twice: an own commit may be seen before it is noted. */
  async #compare(projectId: number, version: number): Promise<void> {
    const expected = (this.#versions.get(projectId) ?? 0) + (this.#ownChanges.get(projectId) ?? 0)
    const isForeign = version !== expected
    if (isForeign && !this.#suspects.has(projectId)) {
      this.#suspects.add(projectId)
      return
    }
    // Remembered only when it is done: what fails is tried again.
    if (isForeign) await this.#options.reconcile(projectId)
    this.#suspects.delete(projectId)
    this.#versions.set(projectId, version)
    this.#ownChanges.delete(projectId)
  }

  async #wakeIndexer(): Promise<void> {
    for (const projectId of await readPendingProjects(this.#options.read)) {
      this.#options.wakeIndexer(projectId)
    }
  }

  async #answerRebuildRequests(attempt: Attempt): Promise<void> {
    const rebuild = this.#options.rebuild()
    if (!rebuild) return
    const prefix = rebuildRequestName(this.#options.folder)
    for (const name of (await readMeta(this.#options.read, prefix)).keys()) {
      await attempt(name, async () => {
        await rebuild(Number(name.slice(prefix.length)))
        await removeMeta(this.#options.write, name)
      })
    }
  }

  async #readVersions(): Promise<{ id: number; version: number }[]> {
    return await this.#options.read.all(sql`
      select id, knowledge_version as version from projects where deleted_at is null`)
  }
}
