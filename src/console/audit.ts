import { type SQL, sql } from 'drizzle-orm'
import type { ReadDatabase } from '../db/reader.ts'
import { auditEvents, keys, members, people } from '../db/schema.ts'
import type { WriteDatabase } from '../db/writer.ts'
import type { SignedIn } from '../http/console-context.ts'
import type { Log } from '../observability/log.ts'
import type { AuditAction, AuditRow, AuditRows } from './answers.ts'
import { type PageRequest, pageOf } from './page-request.ts'

/** Who does something: a person, or whoever holds a key. */
export type Actor = { id: string; name: string | null } | { keyId: string }

/** Who does something, and from where. */
export interface By {
  readonly actor: Actor
  /** Null when it is unknown. */
  readonly address: string | null
}

export interface AuditEvent {
  /** Not given for the command line, and for the service itself. */
  by?: By | undefined
  /** Null for what belongs to no project, such as a sign-in. */
  projectId: number | null
  action: AuditAction
  /** What it was done to: a name, an id, or of a deleted record its keyed hash. */
  target: string | SQL | null
}

interface AuditTrailOptions {
  read: ReadDatabase
  write: WriteDatabase
  now: () => number
  log: Pick<Log, 'error'>
}

/** Who did what, when, from where. Nothing is ever changed in it. */
export class AuditTrail {
  readonly #options: AuditTrailOptions

  constructor(options: AuditTrailOptions) {
    this.#options = options
  }

  /**
   * The statement that notes an event, for the batch that makes it happen: right behind a statement that changes
   * something, since it notes nothing when that one changed nothing.
   */
  entry(event: AuditEvent): SQL {
    return sql`${this.#noting(event)} where changes() > 0`
  }

  /** The same for each project that the person is in, or for none; to come before what ends that. */
  entriesAbout(personId: string, event: Omit<AuditEvent, 'projectId'>): SQL {
    return sql`${this.#noting({ ...event, projectId: sql`project_id` })}
      from ${people} left join ${members} on person_id = ${people.id} where ${people.id} = ${personId}`
  }

  /** Notes what has happened. Never fails. */
  async note(event: AuditEvent): Promise<void> {
    try {
      await this.#options.write.run(this.#noting(event))
    } catch (error) {
      // What is noted is done, and must not look as if it were not.
      this.#options.log.error({ error }, 'An event was not noted in the audit trail')
    }
  }

  /** Newest first: what was done in the project, and what its members did that belongs to no project. */
  async list(projectId: number, request: PageRequest): Promise<AuditRows> {
    const { limit, before } = pageOf(request)
    const columns = sql`seq, at, action, actor_name as actor, actor_id as actorId, target, ip_address as ipAddress`
    const older = before === null ? sql`true` : sql`seq < ${before}`
    const page = (condition: SQL) => sql`
      select * from (
        select ${columns} from ${auditEvents} where ${condition} and ${older} order by seq desc limit ${limit + 1})`
    const ofMember = sql`actor_id in (select person_id from ${members} where project_id = ${projectId})`
    const rows = await this.#options.read.all<Omit<AuditRow, 'at'> & { at: number }>(sql`
      ${page(sql`project_id = ${projectId}`)}
      union all ${page(sql`project_id is null and ${ofMember}`)}
      order by seq desc limit ${limit + 1}`)
    const data = rows.slice(0, limit).map((row) => ({ ...row, at: new Date(row.at).toISOString() }))
    return { data, nextCursor: rows.length > limit ? String(data.at(-1)?.seq) : null }
  }

  #noting({
    by,
    projectId,
    action,
    target,
  }: Omit<AuditEvent, 'projectId'> & { projectId: number | SQL | null }): SQL {
    const { id, name } = by ? columnsOf(by.actor) : { id: null, name: null }
    return sql`
      insert into ${auditEvents} (project_id, at, actor_id, actor_name, action, target, ip_address)
      select ${projectId}, ${this.#options.now()}, ${id}, ${name}, ${action}, ${target}, ${by?.address ?? null}`
  }
}

/** What a signed-in person does. */
export function byPerson({ personId, name, email }: SignedIn, address: string | null): By {
  return { actor: { id: personId, name: personName({ name, email }) }, address }
}

/** A person as the trail names them: names alone are not unique. */
export function personName({ name, email }: { name: string; email: string }): string {
  return `${name} (${email})`
}

/** A key as the trail names it, read when the statement runs. */
export function keyName(keyId: string): SQL {
  return sql`(
    select name || ' (' || case kind when 'live' then 'ck_live_…' else 'ck_ingest_…' end || hint || ')'
    from ${keys} where id = ${keyId})`
}

function columnsOf(actor: Actor): { id: string; name: string | SQL | null } {
  return 'keyId' in actor ? { id: actor.keyId, name: keyName(actor.keyId) } : actor
}
