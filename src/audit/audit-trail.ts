import { type SQL, sql } from 'drizzle-orm'
import type { ReadDatabase } from '../db/reader.ts'
import { auditEvents, keys, members, people } from '../db/schema.ts'
import type { WriteDatabase } from '../db/writer.ts'
import type { Actor, By } from '../identity.ts'
import type { Log } from '../observability/log.ts'

export type AuditAction =
  | 'console_set_up'
  | 'signed_in'
  | 'sign_in_failed'
  | 'signed_out'
  | 'signed_out_everywhere'
  | 'session_ended'
  | 'password_changed'
  | 'password_link_created'
  | 'password_reset'
  | 'invitation_created'
  | 'invitation_revoked'
  | 'invitation_accepted'
  | 'role_changed'
  | 'person_removed'
  | 'person_renamed'
  | 'person_deleted'
  | 'key_created'
  | 'key_revoked'
  | 'source_created'
  | 'source_rotated'
  | 'source_deleted'
  | 'project_created'
  | 'project_renamed'
  | 'project_deleted'
  | 'settings_changed'
  | 'call_deleted'
  | 'item_deleted'
  | 'webhook_created'
  | 'webhook_secret_rotated'
  | 'webhook_removed'
  | 'webhook_enabled'
  | 'webhook_switched_off'
  | 'webhook_replayed'

/** An event as people read it. */
export interface AuditRow {
  seq: number
  /** ISO 8601, UTC. */
  at: string
  action: AuditAction
  /** A person as `name (e-mail address)`, a key as `name (hint)`; null for the command line and the service itself. */
  actor: string | null
  /** The id of the person or key: names are not unique. */
  actorId: string | null
  target: string | null
  ipAddress: string | null
}

export interface AuditRows {
  data: AuditRow[]
  /** Null on the last page. */
  nextCursor: string | null
}

export interface AuditEvent {
  /** Absent for the command line and for the service itself. */
  by?: By | undefined
  /** Null for events outside any project, such as a sign-in. */
  projectId: number | null
  action: AuditAction
  /** A name, an id, or the keyed hash of a deleted record's id. */
  target: string | SQL | null
}

interface AuditTrailOptions {
  read: ReadDatabase
  write: WriteDatabase
  now: () => number
  log: Pick<Log, 'error'>
}

/** Who did what, when and from where. Append-only. */
export class AuditTrail {
  readonly #options: AuditTrailOptions

  constructor(options: AuditTrailOptions) {
    this.#options = options
  }

  /**
   * The statement that records an event. Put it in the batch that does the work, right after the statement that
   * changes something: it records nothing if that statement changed no row.
   */
  entry(event: AuditEvent): SQL {
    return sql`${this.#insert(event)} where changes() > 0`
  }

  /**
   * Records an event about a person in each of their projects, or once outside any project if they have none. Put it
   * before the statement that ends their memberships.
   */
  entriesAbout(personId: string, event: Omit<AuditEvent, 'projectId'>): SQL {
    return sql`${this.#insert({ ...event, projectId: sql`project_id` })}
      from ${people} left join ${members} on person_id = ${people.id} where ${people.id} = ${personId}`
  }

  /** Records an event that has already happened. Never fails. */
  async record(event: AuditEvent): Promise<void> {
    try {
      await this.#options.write.run(this.#insert(event))
    } catch (error) {
      // The action itself succeeded, so it must not be reported as failed.
      this.#options.log.error({ error }, 'An event was not recorded in the audit trail')
    }
  }

  /**
   * A page of the project's events, and of events of its members that belong to no project, newest first.
   * @param page.before every event of the page has a lower `seq`; null for the first page
   */
  async list(
    projectId: number,
    { limit, before }: { limit: number; before: number | null },
  ): Promise<AuditRows> {
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

  #insert(event: Omit<AuditEvent, 'projectId'> & { projectId: number | SQL | null }): SQL {
    const { by, projectId, action, target } = event
    const { id, name } = by ? columnsOf(by.actor) : { id: null, name: null }
    return sql`
      insert into ${auditEvents} (project_id, at, actor_id, actor_name, action, target, ip_address)
      select ${projectId}, ${this.#options.now()}, ${id}, ${name}, ${action}, ${target}, ${by?.address ?? null}`
  }
}

/** `personLabel`, read when the statement runs. */
export function personLabelSql(personId: string): SQL {
  return sql`(select name || ' (' || email || ')' from ${people} where id = ${personId})`
}

/** `name (hint)`, read when the statement runs. */
function keyLabelSql(keyId: string): SQL {
  return sql`(
    select name || ' (' || case kind when 'live' then 'ck_live_…' else 'ck_ingest_…' end || hint || ')'
    from ${keys} where id = ${keyId})`
}

function columnsOf(actor: Actor): { id: string; name: string | SQL | null } {
  return 'keyId' in actor ? { id: actor.keyId, name: keyLabelSql(actor.keyId) } : actor
}
