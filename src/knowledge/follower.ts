import { createHash } from 'node:crypto'
import { hostname } from 'node:os'
import { sql } from 'drizzle-orm'
import { readMeta, removeMeta } from '../db/meta.ts'
import type { OpenDatabase } from '../db/open.ts'
import type { ProjectStores } from '../db/store.ts'
import type { Log } from '../observability/log.ts'
import { Background } from '../threads/background.ts'
import type { VectorIndex } from './index/vector-index.ts'
import type { Indexer } from './indexer.ts'
import { readPendingProjects } from './pending.ts'

const rebuildRequestPrefix = 'index_rebuild:'
const digestChars = 16
const retryMsMax = 30_000
/** How often to look for changes of a database file. */
const pollMsOfFile = 500

/** Names the row in `meta` by which a command asks the process that owns a folder's index files for a rebuild. */
export function rebuildRequestName(folder: string, projectId: number | string = ''): string {
  // The database may be shared with other machines, whose folders can have the same path.
  const digest = createHash('sha256').update(`${hostname()} ${folder}`).digest('hex').slice(0, digestChars)
  return `${rebuildRequestPrefix}${digest}:${projectId}`
}

interface FollowerOptions {
  config: { readonly dataDir: string; readonly databaseSyncIntervalMs: number }
  /** The process that owns the folder saves its index files, and so rebuilds them on request. */
  owner: { readonly isOwner: boolean }
  database: Pick<OpenDatabase, 'read' | 'write' | 'dataVersion' | 'readsAt' | 'isLocal'>
  stores: Pick<ProjectStores, 'close' | 'isClosed'>
  indexer: Pick<Indexer, 'wake'>
  index: Pick<VectorIndex, 'follow' | 'rebuild' | 'drop'>
  erasure: { schedule(): void }
  projectErasure: { schedule(): void }
  log: Pick<Log, 'error' | 'warn'>
  /** Overrides the interval that follows from the configuration. */
  pollMs?: number
}

/**
 * Notices what other processes change in the database, such as an import on the command line: chunks to embed, vectors
 * to index, deletions to erase. This process's own changes look the same, but the index knows that it has them.
 */
export class Follower {
  readonly #options: FollowerOptions
  readonly #pollMs: number
  readonly #polling: Background
  /** Knowledge versions as they were at the last poll. */
  readonly #versions = new Map<number, number>()
  /** Projects whose version has changed. The index follows one poll later, when it has this process's own changes. */
  readonly #changed = new Set<number>()
  readonly #following = new Map<number, Background>()
  readonly #rebuilding = new Map<string, Background>()
  #dataVersion = -1

  constructor(options: FollowerOptions) {
    this.#options = options
    const { config, database } = options
    const pollMsDefault = database.readsAt.kind === 'remote' ? config.databaseSyncIntervalMs : pollMsOfFile
    this.#pollMs = options.pollMs ?? pollMsDefault
    this.#polling = this.#background(async () => {
      await this.#poll()
      return this.#pollMs
    })
  }

  /** Call it before the indexes are reconciled at start, so that no later change is missed. */
  async start(): Promise<void> {
    for (const { id, version } of await this.#readVersions()) this.#versions.set(id, version)
    this.#polling.soon()
  }

  async close(): Promise<void> {
    // Not waited for: what the index has begun may take minutes, and ends when the index is closed.
    for (const background of [...this.#following.values(), ...this.#rebuilding.values()])
      void background.close()
    await this.#polling.close()
  }

  async #poll(): Promise<void> {
    const { database, erasure, projectErasure } = this.#options
    const dataVersion = database.dataVersion()
    const isNews = dataVersion !== this.#dataVersion
    for (const projectId of this.#changed) this.#followSoon(projectId)
    this.#changed.clear()
    if (!isNews) return
    erasure.schedule()
    // On a server's database, the node that deletes a project erases it, if need be at its next start.
    if (database.isLocal) projectErasure.schedule()
    await this.#readNews()
    // Set last, so that a poll that fails is tried again.
    this.#dataVersion = dataVersion
  }

  async #readNews(): Promise<void> {
    const there = await this.#readVersions()
    this.#leaveGone(new Set(there.map(({ id }) => id)))
    for (const { id, version } of there) {
      if (this.#versions.get(id) === version) continue
      this.#versions.set(id, version)
      this.#changed.add(id)
    }
    for (const projectId of await readPendingProjects(this.#options.database.read))
      this.#options.indexer.wake(projectId)
    await this.#startRebuilds()
  }

  #leaveGone(there: ReadonlySet<number>): void {
    for (const projectId of this.#versions.keys()) {
      if (there.has(projectId)) continue
      this.#versions.delete(projectId)
      this.#changed.delete(projectId)
      void this.#following.get(projectId)?.close()
      this.#following.delete(projectId)
      this.#leave(projectId)
    }
  }

  #leave(projectId: number): void {
    const { database, owner, stores, index, log } = this.#options
    stores.close(projectId)
    // The process that deletes the rows drops the index afterwards.
    if (owner.isOwner && database.isLocal) return
    index.drop(projectId).catch((error) => log.warn({ error }, 'An index was not dropped'))
  }

  async #follow(projectId: number): Promise<void> {
    const { stores, indexer, index } = this.#options
    const version = this.#versions.get(projectId)
    if (version === undefined || stores.isClosed(projectId)) return
    indexer.wake(projectId)
    await index.follow(projectId, version)
  }

  #followSoon(projectId: number): void {
    let following = this.#following.get(projectId)
    if (!following) {
      following = this.#background(async () => {
        await this.#follow(projectId)
        return null
      })
      this.#following.set(projectId, following)
    }
    following.soon(0)
  }

  async #startRebuilds(): Promise<void> {
    const { config, owner, database, index } = this.#options
    if (!owner.isOwner) return
    const prefix = rebuildRequestName(config.dataDir)
    for (const name of (await readMeta(database.read, prefix)).keys()) {
      if (this.#rebuilding.has(name)) continue
      const rebuilding = this.#background(async () => {
        await index.rebuild(Number(name.slice(prefix.length)))
        await removeMeta(database.write, name)
        this.#rebuilding.delete(name)
        return null
      })
      this.#rebuilding.set(name, rebuilding)
      rebuilding.soon(0)
    }
  }

  /** A failure holds up no other job. */
  #background(work: () => Promise<number | null>): Background {
    const { log } = this.#options
    return new Background({
      work,
      delayMs: this.#pollMs,
      retryMs: 2 * this.#pollMs,
      retryMsMax,
      onFailure: (error) => log.error({ error }, 'Following the database failed'),
    })
  }

  async #readVersions(): Promise<{ id: number; version: number }[]> {
    return await this.#options.database.read.all(sql`
      select id, knowledge_version as version from projects where deleted_at is null`)
  }
}
