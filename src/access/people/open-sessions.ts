import { and, eq, isNull, sql } from 'drizzle-orm'
import { LRUCache } from 'lru-cache'
import type { Core } from '../../core/core.ts'
import { members, projects, sessions } from '../../db/schema.ts'
import { signInRequired } from '../../errors.ts'
import { owesTwoFactor } from './two-factor-rule.ts'

/** A session that is used is renewed at most this often. */
export const sessionRenewedAfterMs = 600_000
const projectsMax = 100

/** Milliseconds since 1970 at which each session ends, by its id. */
type Ends = ReadonlyMap<string, number>

/**
 * Checks that people who follow a project's changes are still signed in, still members, and have the second factor that
 * they need. Reads the sessions of all members at once, once per commit, because many open pages check after each change.
 */
export class OpenSessions {
  readonly #core: Core
  readonly #read = new LRUCache<number, { version: number; ends: Promise<Ends> }>({ max: projectsMax })

  constructor(core: Core) {
    this.#core = core
  }

  /** @param sessionId of a session that was valid when the stream began @throws not_signed_in if it no longer is */
  async check(projectId: number, sessionId: string): Promise<void> {
    const { dataVersion, now } = this.#core
    const version = dataVersion()
    let sessions = this.#read.get(projectId)
    if (sessions?.version !== version) {
      sessions = { version, ends: this.#endsOf(projectId) }
      this.#read.set(projectId, sessions)
    }
    const endsAt = (await sessions.ends).get(sessionId)
    if (endsAt === undefined || endsAt <= now()) throw signInRequired('Your session has ended.')
  }

  async #endsOf(projectId: number): Promise<Ends> {
    const { read, config } = this.#core
    const owes = config.oidc?.isOnly ? sql`false` : owesTwoFactor(members.personId, sessions.endsAt)
    const rows = await read
      .select({ id: sessions.id, endsAt: sql<number>`${sessions.expiresAt}` })
      .from(members)
      .innerJoin(projects, eq(projects.id, members.projectId))
      .innerJoin(sessions, eq(sessions.userId, members.personId))
      .where(and(eq(members.projectId, projectId), isNull(projects.deletedAt), sql`not ${owes}`))
    return new Map(rows.map(({ id, endsAt }) => [id, endsAt]))
  }
}
