import { stat } from 'node:fs/promises'
import { and, desc, eq, isNull, type SQL, sql } from 'drizzle-orm'
import type { Keys } from '../../access/keys/keys.ts'
import type { Core } from '../../core/core.ts'
import { type LastBackup, readLastBackup } from '../../db/backup-note.ts'
import { keys, projects } from '../../db/schema.ts'
import { version } from '../../version.ts'
import { type ProjectSize, readProjectSizes } from './project-sizes.ts'

/** A page that is left open asks again and again: what was read less than this ago is told again. */
const keptForMs = 60_000
const keysMax = 200
const waitingMax = 100_000

/** What waits for the service to do it; `oldestAt` is ISO 8601, null where nothing waits. */
export interface Queue {
  name: 'webhooks' | 'analyses' | 'recordings' | 'chunks' | 'erasures'
  /** At most 100,000, then more wait. */
  waiting: number
  oldestAt: string | null
}

export interface KeyUse {
  id: string
  name: string
  project: string
  projectId: string
  kind: 'live' | 'ingest'
  lastUsedAt: string | null
  /** Requests to this process since it started. */
  requests: number
}

/** The service, as whoever runs it wants to know it. */
export interface ServiceAnswer {
  version: string
  startedAt: string
  /** When the figures below were read. */
  readAt: string
  /** What needs an operator, in a sentence. */
  problem: string | null
  /** `bytes` and `freeBytes` are null for a database on a server. */
  database: { kind: 'file' | 'replica' | 'server'; bytes: number | null; freeBytes: number | null }
  embedder: { destination: string; dimensions: number | null }
  /** Where calls are sent for analysis; null without a model. */
  model: string | null
  queues: Queue[]
  lastBackup: LastBackup | null
  projects: ProjectSize[]
  /** The most recently used keys. */
  keys: KeyUse[]
}

export interface ServiceStateParts {
  problem: () => Promise<string | null>
  embedder: { readonly destination: string; readonly dimensions: number | null }
  /** Null without a model. */
  chat: { readonly destination: string } | null
  keys: Pick<Keys, 'requestsOf'>
}

/** Reads the state of the service on the console's own thread, at most once a minute. */
export class ServiceState {
  readonly #parts: Core & ServiceStateParts
  readonly #startedAt: number
  #cached: { at: number; answer: Promise<ServiceAnswer> } | null = null

  constructor(core: Core, parts: ServiceStateParts) {
    this.#parts = { ...core, ...parts }
    this.#startedAt = core.now()
  }

  read(): Promise<ServiceAnswer> {
    const now = this.#parts.now()
    if (this.#cached && Math.abs(now - this.#cached.at) < keptForMs) return this.#cached.answer
    const answer = this.#read(now)
    this.#cached = { at: now, answer }
    answer.catch(() => {
      // The next request tries again.
      this.#cached = null
    })
    return answer
  }

  async #read(now: number): Promise<ServiceAnswer> {
    const { config, database, problem, embedder, chat } = this.#parts
    const { destination, dimensions } = embedder
    return {
      version,
      startedAt: new Date(this.#startedAt).toISOString(),
      readAt: new Date(now).toISOString(),
      problem: await problem(),
      database: {
        kind: database.isLocal ? 'file' : database.file === '' ? 'server' : 'replica',
        bytes: database.file === '' ? null : await bytesOf(database.file),
        freeBytes: database.freeBytes(),
      },
      embedder: { destination, dimensions },
      model: chat?.destination ?? null,
      queues: await this.#queues(),
      lastBackup: await readLastBackup(config.dataDir),
      projects: await readProjectSizes(database.readForConsole),
      keys: await this.#keys(),
    }
  }

  async #queues(): Promise<Queue[]> {
    const { readForConsole: read } = this.#parts.database
    const queueOf = async (name: Queue['name'], times: SQL): Promise<Queue> => {
      const [row] = await read
        .select({ waiting: sql<number>`count(*)`, oldest: sql<number | null>`min(at)` })
        .from(sql`(${times} limit ${waitingMax})`)
      return {
        name,
        waiting: row?.waiting ?? 0,
        oldestAt: row?.oldest ? new Date(row.oldest).toISOString() : null,
      }
    }
    return [
      await queueOf('webhooks', sql`select at from webhook_queue where not is_sent`),
      await queueOf('analyses', sql`select due_at as at from analysis_queue`),
      await queueOf('recordings', sql`select since as at from recording_fetches where due_at is not null`),
      await queueOf('chunks', sql`select null as at from chunks where embedding_space is null`),
      await queueOf('erasures', sql`select requested_at as at from erasures where done_at is null`),
    ]
  }

  async #keys(): Promise<KeyUse[]> {
    const { database, keys: openKeys } = this.#parts
    const rows = await database.readForConsole
      .select({
        id: keys.id,
        name: keys.name,
        project: projects.name,
        projectId: projects.publicId,
        kind: keys.kind,
        at: keys.lastUsedAt,
      })
      .from(keys)
      .innerJoin(projects, and(eq(projects.id, keys.projectId), isNull(projects.deletedAt)))
      .where(isNull(keys.revokedAt))
      .orderBy(desc(keys.lastUsedAt), desc(keys.createdAt))
      .limit(keysMax)
    return rows.map(({ at, ...key }) => ({
      ...key,
      lastUsedAt: at === null ? null : new Date(at).toISOString(),
      requests: openKeys.requestsOf(key.id),
    }))
  }
}

/** Returns the bytes of the database file and its log. */
async function bytesOf(file: string): Promise<number> {
  const sizes = await Promise.all(
    [file, `${file}-wal`].map((path) =>
      // There is no log before the first write.
      stat(path).then(
        ({ size }) => size,
        () => 0,
      ),
    ),
  )
  return sizes.reduce((sum, size) => sum + size, 0)
}
