import { and, eq, isNull, sql } from 'drizzle-orm'
import { LRUCache } from 'lru-cache'
import type { ReadDatabase } from '../../db/reader.ts'
import { members, projects, sessions } from '../../db/schema.ts'
import { AppError } from '../../errors.ts'

const projectsMax = 100

interface OpenSessionsOptions {
  read: ReadDatabase
  /** See Reader.dataVersion. */
  dataVersion: () => number
  now: () => number
}

/** Milliseconds since 1970 at which each session ends, by its id. */
type Ends = ReadonlyMap<string, number>

/**
 * Whether somebody who follows a project is still signed in and in it. The sessions of all its members are read at
 * once, after a commit: many pages follow a project, and hear of each change together.
 */
export class OpenSessions {
  readonly #options: OpenSessionsOptions
  readonly #read = new LRUCache<number, { version: number; ends: Promise<Ends> }>({ max: projectsMax })

  constructor(options: OpenSessionsOptions) {
    this.#options = options
  }

  /** @throws not_signed_in unless the session, which was found to be good before, still is */
  async check(projectId: number, sessionId: string): Promise<void> {
    const { dataVersion, now } = this.#options
    const version = dataVersion()
    let known = this.#read.get(projectId)
    if (known?.version !== version) {
      known = { version, ends: this.#endsOf(projectId) }
      this.#read.set(projectId, known)
    }
    const endsAt = (await known.ends).get(sessionId)
    if (endsAt === undefined || endsAt <= now()) throw new AppError('not_signed_in', 'Sign in required')
  }

  async #endsOf(projectId: number): Promise<Ends> {
    const rows = await this.#options.read
      .select({ id: sessions.id, endsAt: sql<number>`${sessions.expiresAt}` })
      .from(members)
      .innerJoin(projects, eq(projects.id, members.projectId))
      .innerJoin(sessions, eq(sessions.userId, members.personId))
      .where(and(eq(members.projectId, projectId), isNull(projects.deletedAt)))
    return new Map(rows.map(({ id, endsAt }) => [id, endsAt]))
  }
}
