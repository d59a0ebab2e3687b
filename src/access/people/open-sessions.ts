import { and, eq, isNull, sql } from 'drizzle-orm'
import { LRUCache } from 'lru-cache'
import { members, projects, sessions } from '../../db/schema.ts'
import { signInRequired } from '../../errors.ts'
import type { PeopleOptions } from './options.ts'
import { owesTwoFactor } from './two-factor-rule.ts'

const projectsMax = 100

interface OpenSessionsOptions extends Pick<PeopleOptions, 'read' | 'oidc' | 'now'> {
  /** See Reader.dataVersion. */
  dataVersion: () => number
}

/** Milliseconds since 1970 at which each session ends, by its id. */
type Ends = ReadonlyMap<string, number>

/**
 * Checks that people who follow a project's changes are still signed in, still members, and have the second factor that
 * they need. Reads the sessions of all members at once, once per commit, because many open pages check after each change.
 */
export class OpenSessions {
  readonly #options: OpenSessionsOptions
  readonly #read = new LRUCache<number, { version: number; ends: Promise<Ends> }>({ max: projectsMax })

  constructor(options: OpenSessionsOptions) {
    this.#options = options
  }

  /** @param sessionId of a session that was valid when the stream began @throws not_signed_in if it no longer is */
  async check(projectId: number, sessionId: string): Promise<void> {
    const { dataVersion, now } = this.#options
    const version = dataVersion()
    let known = this.#read.get(projectId)
    if (known?.version !== version) {
      known = { version, ends: this.#endsOf(projectId) }
      this.#read.set(projectId, known)
    }
    const endsAt = (await known.ends).get(sessionId)
    if (endsAt === undefined || endsAt <= now()) throw signInRequired('Your session has ended.')
  }

  async #endsOf(projectId: number): Promise<Ends> {
    const { read, oidc } = this.#options
    const owes = oidc?.isOnly ? sql`false` : owesTwoFactor(members.personId, sessions.endsAt)
    const rows = await read
      .select({ id: sessions.id, endsAt: sql<number>`${sessions.expiresAt}` })
      .from(members)
      .innerJoin(projects, eq(projects.id, members.projectId))
      .innerJoin(sessions, eq(sessions.userId, members.personId))
      .where(and(eq(members.projectId, projectId), isNull(projects.deletedAt), sql`not ${owes}`))
    return new Map(rows.map(({ id, endsAt }) => [id, endsAt]))
  }
}
