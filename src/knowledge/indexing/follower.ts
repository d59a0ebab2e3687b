import { hostname } from 'node:os'
import { sql } from 'drizzle-orm'
import type { Core } from '../../core/core.ts'
import type { Job, JobOfEach } from '../../core/jobs.ts'
import { deleteMeta, readMeta } from '../../db/meta.ts'
import type { Erasure } from '../../erasure/erasure.ts'
import type { ProjectErasure } from '../../erasure/project-erasure.ts'
import { sha256 } from '../chunking/chunk.ts'
import type { QuestionChecks } from '../questions/question-checks.ts'
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

interface FollowerParts {
  indexer: Pick<Indexer, 'wake'>
  index: Pick<VectorIndex, 'follow' | 'rebuild' | 'drop'>
  erasure: Pick<Erasure, 'schedule'>
  projectErasure: Pick<ProjectErasure, 'schedule'>
  erasureRequests: { schedule(): void }
  /** Asks questions again after a change of a project's knowledge. */
  questionChecks: Pick<QuestionChecks, 'schedule'>
  delayMs?: number
}

/**
 * Watches the database for changes by other processes, such as an import on the command line: chunks to embed, vectors to
 * index, deletions to erase. Changes by this process look the same, but the index knows that it has them already.
 */
export class Follower {
  readonly #parts: Core & FollowerParts
  readonly #reading: Job
  /** Knowledge versions as they were last read. */
  readonly #versions = new Map<number, number>()
  /** Projects with a new version. The index follows after another delay: by then it has this process's own changes. */
  readonly #changed = new Set<number>()
  /** The work on the index: projects to follow by id, and rebuilds by the name of their request. */
  readonly #following: JobOfEach<number | string>
  #isStarted = false
  #dataVersion = -1

  constructor(core: Core, parts: FollowerParts) {
    const { delayMs = delayMsDefault } = parts
    const timing = { delayMs, retryMs: 2 * delayMs, retryMsMax }
    this.#parts = { ...core, ...parts }
    this.#reading = core.jobs.add({
      name: 'following',
      run: async () => {
        if (this.#isStarted) await this.#read()
        return this.#changed.size > 0 ? delayMs : null
      },
      ...timing,
      commitMs: delayMs,
      failure: 'Following the database failed',
      inEveryProcess: true,
    })
    this.#following = core.jobs.addOfEach({
      name: 'following of indexes',
      run: async (key) => {
        if (typeof key === 'string') await this.#rebuild(key)
        else await this.#follow(key)
        return null
      },
      ...timing,
      onFailure: (error) => core.log.error({ error }, 'Following the database failed'),
    })
  }

  /** Follows every change from now on. */
  async start(): Promise<void> {
    for (const { id, version } of await this.#readVersions()) this.#versions.set(id, version)
    this.#isStarted = true
    this.#reading.soon()
  }

  /** Compares the index file of every project with its rows in the background, as if all had changed. */
  followAll(): void {
    for (const projectId of this.#versions.keys()) this.#changed.add(projectId)
    this.#reading.soon()
  }

  async #read(): Promise<void> {
    const { database, erasure, projectErasure, erasureRequests } = this.#parts
    const dataVersion = database.dataVersion()
    for (const projectId of this.#changed) this.#following.soon(projectId, 0)
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
    const { database, indexer, questionChecks } = this.#parts
    const projects = await this.#readVersions()
    this.#dropDeleted(new Set(projects.map(({ id }) => id)))
    for (const { id, version } of projects) {
      // A new project has nothing that an index would have to follow, as long as it has no knowledge.
      const isSame = version === (this.#versions.get(id) ?? 0)
      this.#versions.set(id, version)
      if (isSame) continue
      this.#changed.add(id)
      questionChecks.schedule(id)
    }
    for (const projectId of await readPendingProjects(database.read)) indexer.wake(projectId)
    await this.#startRebuilds()
  }

  /** Closes the projects that other processes have deleted. @param remaining the ids of all other projects */
  #dropDeleted(remaining: ReadonlySet<number>): void {
    const { database, owner, stores, index, log } = this.#parts
    for (const projectId of this.#versions.keys()) {
      if (remaining.has(projectId)) continue
      this.#versions.delete(projectId)
      this.#changed.delete(projectId)
      this.#following.end(projectId)
      stores.close(projectId)
      // The process that deletes the rows drops the index afterwards.
      if (owner.isOwner && database.isLocal) continue
      index.drop(projectId).catch((error) => log.warn({ error }, 'An index was not dropped'))
    }
  }

  async #follow(projectId: number): Promise<void> {
    const { stores, indexer, index } = this.#parts
    const version = this.#versions.get(projectId)
    if (version === undefined || stores.isClosed(projectId)) return
    indexer.wake(projectId)
    await index.follow(projectId, version)
  }

  async #startRebuilds(): Promise<void> {
    // The process that owns the folder saves its index files, and so rebuilds them on request.
    const { config, owner, database } = this.#parts
    if (!owner.isOwner) return
    const prefix = rebuildRequestName(config.dataDir)
    for (const name of (await readMeta(database.read, prefix)).keys()) {
      if (!this.#following.has(name)) this.#following.soon(name, 0)
    }
  }

  async #rebuild(name: string): Promise<void> {
    const { config, database, index } = this.#parts
    await index.rebuild(Number(name.slice(rebuildRequestName(config.dataDir).length)))
    await deleteMeta(database.write, name)
    this.#following.end(name)
  }

  async #readVersions(): Promise<{ id: number; version: number }[]> {
    return await this.#parts.database.read.all(sql`
      select id, knowledge_version as version from projects where deleted_at is null`)
  }
}
