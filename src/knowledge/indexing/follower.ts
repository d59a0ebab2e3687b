import { hostname } from 'node:os'
import { sql } from 'drizzle-orm'
import { deleteMeta, readMeta } from '../../db/meta.ts'
import type { OpenDatabase } from '../../db/open.ts'
import type { ProjectStores } from '../../db/store.ts'
import type { Log } from '../../observability/log.ts'
import { Background } from '../../threads/background.ts'
import { sha256 } from '../chunking/chunk.ts'
import type { VectorIndex } from './index/vector-index.ts'
import { type Indexer, readPendingProjects } from './indexer.ts'

const digestChars = 16
const retryMsMax = 30_000
/** How soon a change is followed. */
const delayMsDefault = 500

/** The name of the row in `meta` by which a command asks the owner of a folder's index files for a rebuild. */
export function rebuildRequestName(folder: string, projectId: number | string = ''): string {
  // The database may be shared with other machines, whose folders can have the same path.
  return `index_rebuild:${sha256(`${hostname()} ${folder}`).slice(0, digestChars)}:${projectId}`
}

interface FollowerOptions {
  config: { readonly dataDir: string }
  /** The process that owns the folder saves its index files, and so rebuilds them on request. */
  owner: { readonly isOwner: boolean }
  database: Pick<OpenDatabase, 'read' | 'write' | 'dataVersion' | 'onCommit' | 'isLocal'>
  stores: Pick<ProjectStores, 'close' | 'isClosed'>
  indexer: Pick<Indexer, 'wake'>
  index: Pick<VectorIndex, 'follow' | 'rebuild' | 'drop'>
  erasure: { schedule(): void }
  projectErasure: { schedule(): void }
  erasureRequests: { schedule(): void }
  /** Asks questions again after a change of a project's knowledge. */
  questionChecks: { schedule(projectId: number): void }
  log: Pick<Log, 'error' | 'warn'>
  delayMs?: number
}

/**
 * Watches the database for changes by other processes, such as an import on the command line: chunks to embed, vectors to
 * index, deletions to erase. Changes by this process look the same, but the index knows that it has them already.
 */
export class Follower {
  readonly #options: FollowerOptions
  readonly #delayMs: number
  readonly #reading: Background
  /** Knowledge versions as they were last read. */
  readonly #versions = new Map<number, number>()
  /** Projects with a new version. The index follows after another delay: by then it has this process's own changes. */
  readonly #changed = new Set<number>()
  /** The work on the index: projects to follow by id, and rebuilds by the name of their request. */
  readonly #jobs = new Map<number | string, Background>()
  #dataVersion = -1

  constructor(options: FollowerOptions) {
    this.#options = options
    this.#delayMs = options.delayMs ?? delayMsDefault
    this.#reading = this.#background(async () => {
      await this.#read()
      return this.#changed.size > 0 ? this.#delayMs : null
    })
  }

  /** Follows every change from now on. */
  async start(): Promise<void> {
    for (const { id, version } of await this.#readVersions()) this.#versions.set(id, version)
    this.#options.database.onCommit(() => this.#reading.soon())
    this.#reading.soon()
  }

  /** Compares the index file of every project with its rows in the background, as if all had changed. */
  followAll(): void {
    for (const projectId of this.#versions.keys()) this.#changed.add(projectId)
    this.#reading.soon()
  }

  async close(): Promise<void> {
    // Not awaited: the index may need minutes to finish. Closing the index ends that.
    for (const job of this.#jobs.values()) void job.close()
    await this.#reading.close()
  }

  async #read(): Promise<void> {
    const { database, erasure, projectErasure, erasureRequests } = this.#options
    const dataVersion = database.dataVersion()
    for (const projectId of this.#changed) this.#startJob(projectId, () => this.#follow(projectId))
    this.#changed.clear()
    if (dataVersion === this.#dataVersion) return
    erasure.schedule()
    erasureRequests.schedule()
    // On a server's database, the node that deletes a project also erases it, at its next start if it crashes.
    if (database.isLocal) projectErasure.schedule()
    await this.#readChanges()
    // Set last, so that a failed read is repeated.
    this.#dataVersion = dataVersion
  }

  async #readChanges(): Promise<void> {
    const { database, indexer, questionChecks } = this.#options
    const projects = await this.#readVersions()
    this.#dropDeleted(new Set(projects.map(({ id }) => id)))
    for (const { id, version } of projects) {
      if (this.#versions.get(id) === version) continue
      this.#versions.set(id, version)
      this.#changed.add(id)
      questionChecks.schedule(id)
    }
    for (const projectId of await readPendingProjects(database.read)) indexer.wake(projectId)
    await this.#startRebuilds()
  }

  /** Closes the projects that other processes have deleted. @param remaining the ids of all other projects */
  #dropDeleted(remaining: ReadonlySet<number>): void {
    const { database, owner, stores, index, log } = this.#options
    for (const projectId of this.#versions.keys()) {
      if (remaining.has(projectId)) continue
      this.#versions.delete(projectId)
      this.#changed.delete(projectId)
      void this.#jobs.get(projectId)?.close()
      this.#jobs.delete(projectId)
      stores.close(projectId)
      // The process that deletes the rows drops the index afterwards.
      if (owner.isOwner && database.isLocal) continue
      index.drop(projectId).catch((error) => log.warn({ error }, 'An index was not dropped'))
    }
  }

  async #follow(projectId: number): Promise<void> {
    const { stores, indexer, index } = this.#options
    const version = this.#versions.get(projectId)
    if (version === undefined || stores.isClosed(projectId)) return
    indexer.wake(projectId)
    await index.follow(projectId, version)
  }

  async #startRebuilds(): Promise<void> {
    const { config, owner, database, index } = this.#options
    if (!owner.isOwner) return
    const prefix = rebuildRequestName(config.dataDir)
    for (const name of (await readMeta(database.read, prefix)).keys()) {
      if (this.#jobs.has(name)) continue
      this.#startJob(name, async () => {
        await index.rebuild(Number(name.slice(prefix.length)))
        await deleteMeta(database.write, name)
        this.#jobs.delete(name)
      })
    }
  }

  /** Runs the work in the background: once more when it is running, and again with backoff when it fails. */
  #startJob(key: number | string, work: () => Promise<void>): void {
    const job = this.#jobs.get(key) ?? this.#background(() => work().then(() => null))
    this.#jobs.set(key, job)
    job.soon(0)
  }

  /** Each job has a retry delay of its own, so that a failure delays no other job. */
  #background(work: () => Promise<number | null>): Background {
    const { log } = this.#options
    return new Background({
      work,
      delayMs: this.#delayMs,
      retryMs: 2 * this.#delayMs,
      retryMsMax,
      onFailure: (error) => log.error({ error }, 'Following the database failed'),
    })
  }

  async #readVersions(): Promise<{ id: number; version: number }[]> {
    return await this.#options.database.read.all(sql`
      select id, knowledge_version as version from projects where deleted_at is null`)
  }
}
