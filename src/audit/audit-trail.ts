import { and, desc, type SQL, sql } from 'drizzle-orm'
import type { ReadDatabase } from '../db/reader.ts'
import type { RecordHash } from '../db/record-hash.ts'
import { auditEvents, keys, members, people } from '../db/schema.ts'
import type { StoreOf } from '../db/store.ts'
import type { WriteDatabase } from '../db/write-database.ts'
import { invalidRequest } from '../errors.ts'
import type { ActedBy } from '../identity.ts'
import type { Log } from '../observability/log.ts'
import { csvLine } from '../text/csv.ts'
import { type AuditAction, targetKinds } from './actions.ts'
import { type AuditLink, findTargets } from './targets.ts'

/** How long entries are kept. */
const keptDays = 400
const dayMs = 86_400_000
const entriesPerSliceMax = 200
/** Of one run, an entry follows the one before it within this time. */
const runGapMs = 3_600_000
/** How many pages are read for one of runs. */
const pagesOfRunsMax = 20

/** An event as people read it. */
export interface AuditRow {
  /** Its number in the project, or `number@person` for what belongs to no project, such as a sign-in. */
  id: string
  at: string
  action: AuditAction
  actorKind: ActorKind
  /** A person as `name (email address)`, a key as `name (hint)`; null for others. */
  actor: string | null
  /** The id of the person or key: names are not unique. Of a stranger, the person whose name was used. */
  actorId: string | null
  target: string | null
  /** Where the target is; null once it is gone. */
  link: AuditLink | null
  ipAddress: string | null
}

/** A `stranger` did not prove to be somebody, such as by a wrong password. */
export type ActorKind = (typeof actorKinds)[number]
const actorKinds = ['person', 'key', 'commandLine', 'service', 'stranger'] as const

/** Somebody without a name. */
interface Unnamed {
  kind: Exclude<ActorKind, 'person' | 'key'>
  /** For an event without a project: the person whose projects show it. */
  personId?: string
  address?: string | null
}

/** The service itself. */
export const byService: Unnamed = { kind: 'service' }

/** What a machine did to calls, one after the other; or any other entry alone. */
export interface AuditRun extends AuditRow {
  entries: number
  /** When the first of them was; the entry itself is the last one. */
  since: string
}

interface AuditRows<Row = AuditRow> {
  data: Row[]
  /** Null on the last page. */
  nextCursor: string | null
}

interface PageOptions {
  limit: number
  cursor?: string | undefined
}

export interface AuditEvent {
  /** Absent for the command line. */
  by?: ActedBy | Unnamed | undefined
  /** Null for events outside any project, such as a sign-in. */
  projectId: number | null
  action: AuditAction
  /** A name, an id, or the keyed hash of a record's id, which begins it and may be followed by a colon and more. */
  target: string | SQL | null
  /** What finds the target: the row number of a call or an item, else its id. */
  targetRef?: string | SQL | undefined
}

/** Which entries a list has; each condition that is given must hold. */
export interface AuditFilter {
  /** The id of a person or a key, or `commandLine`, `service` or `stranger`. */
  who?: string | undefined
  action?: string | undefined
  /** Entries from this time on. */
  from?: number | undefined
  /** Entries before this time. */
  to?: number | undefined
  /** The keyed hash of a record's id, for entries about it. Their targets are it, or begin with it and a colon. */
  target?: string | undefined
}

interface AuditTrailOptions {
  read: ReadDatabase
  store: StoreOf
  write: WriteDatabase
  recordHash: RecordHash
  now: () => number
  log: Pick<Log, 'error'>
}

/** Who did what, when and from where. Entries are kept for 400 days, and nothing else changes or deletes them. */
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
   * Records an event for each row of `from`, whose column `value` is its target. `targetRef` is one of its columns, too.
   * @param event.projectId SQL for another column of `from`, which has a name that no table's column has
   */
  entries(event: Omit<AuditEvent, 'target' | 'projectId'> & { projectId: number | SQL }, from: SQL): SQL {
    return sql`${this.#insert({ ...event, target: sql`value` })} from ${from}`
  }

  /**
   * The same for the service's own work in progress: its first entry, or that entry's new target. So the trail is right even if the work
   * is interrupted, and has one entry for all of it.
   */
  progress(event: Omit<AuditEvent, 'by'>, isFirst: boolean): SQL {
    if (isFirst) return this.entry({ ...event, by: byService })
    const { projectId, action, target } = event
    return sql`
      update ${auditEvents} set target = ${target} where changes() > 0 and seq = (
        select seq from ${auditEvents} where project_id is ${projectId} and action = ${action} order by seq desc limit 1)`
  }

  /** Deletes entries that are older than 400 days, with one entry for those of a project. */
  async expire(signal: AbortSignal): Promise<void> {
    const { read, write, now } = this.#options
    const before = now() - keptDays * dayMs
    const words = ` from before ${new Date(before).toISOString().slice(0, 10)}`
    const counts = new Map<number | null, number>()
    // By `seq`, which rises with the time, so that nothing is read beyond the oldest entry that stays.
    const old = sql`select seq, project_id as projectId from ${auditEvents} where at < ${before} and seq < coalesce(
      (select seq from ${auditEvents} where at between ${before} and ${now()} order by seq limit 1),
      ${Number.MAX_SAFE_INTEGER}) order by seq limit ${entriesPerSliceMax}`
    for (;;) {
      signal.throwIfAborted()
      const rows = await read.all<{ seq: number; projectId: number | null }>(old)
      if (rows.length === 0) return
      for (const projectId of new Set(rows.map((row) => row.projectId))) {
        const seqs = rows.filter((row) => row.projectId === projectId).map(({ seq }) => seq)
        const earlier = counts.get(projectId) ?? 0
        const count = earlier + seqs.length
        counts.set(projectId, count)
        const event = {
          projectId,
          action: 'audit_expired',
          target: `${count} ${count === 1 ? 'entry' : 'entries'}${words}`,
        } as const
        await write.batch({
          deleted: sql`
            delete from ${auditEvents} where seq in (select value from json_each(${JSON.stringify(seqs)}))`,
          entry: this.progress(event, earlier === 0),
        })
      }
    }
  }

  /**
   * Records an event about a person in each of their projects, or once outside any project if they have none. Put it
   * before the statement that ends their memberships.
   */
  entriesAbout(personId: string, event: Omit<AuditEvent, 'projectId'>): SQL {
    return sql`${this.#insert({ ...event, projectId: sql`members.project_id` })}
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
   * @param page.cursor the id of the last event of the page before; absent for the first page
   * @throws invalid_request
   */
  async list(
    projectId: number,
    { limit, cursor }: PageOptions,
    filter: AuditFilter = {},
  ): Promise<AuditRows> {
    const { read, readForConsole } = this.#options.store(projectId)
    // A filtered list may scan many entries.
    const isFiltered = Object.values(filter).some((value) => value !== undefined)
    const ofMember = sql`actor_id in (select person_id from ${members} where project_id = ${projectId})`
    const last = cursor
      ? sql`seq < (${eventOf(projectId, cursor)} and (project_id is not null or ${ofMember}))`
      : sql`true`
    const older = sql`${conditionOf(filter)} and ${last}`
    const page = (condition: SQL) => sql`select * from (
      select seq from ${auditEvents} where ${condition} and ${older} order by seq desc limit ${limit + 1})`
    const rows = await (isFiltered ? readForConsole : read)
      .select(shownColumns)
      .from(auditEvents)
      .where(
        sql`seq in (${page(sql`project_id = ${projectId}`)} union all ${page(sql`project_id is null and ${ofMember}`)})`,
      )
      .orderBy(desc(auditEvents.seq))
      .limit(limit + 1)
    const pageRows = rows.slice(0, limit)
    const linkOf = await findTargets(read, { projectId, recordHash: this.#options.recordHash }, pageRows)
    const data = pageRows.map(({ targetRef, ...row }) => ({
      ...row,
      at: new Date(row.at).toISOString(),
      link: linkOf({ ...row, targetRef }),
    }))
    return { data, nextCursor: rows.length > limit ? (data.at(-1)?.id ?? null) : null }
  }

  /** The same, grouped into runs, unless one record is asked for. A run of more than some thousand entries continues on the next page. */
  async listRuns(
    projectId: number,
    { limit, cursor }: PageOptions,
    filter: AuditFilter = {},
  ): Promise<AuditRows<AuditRun>> {
    const data: AuditRun[] = []
    let last = cursor
    for (let pages = 0; pages < pagesOfRunsMax; pages++) {
      const page = await this.list(projectId, { limit: entriesPerSliceMax, cursor: last }, filter)
      for (const row of page.data) {
        const run = data.at(-1)
        if (run && filter.target === undefined && isOfRun(row, run)) {
          run.entries++
          run.since = row.at
        } else {
          if (data.length === limit) return { data, nextCursor: last ?? null }
          data.push({ ...row, entries: 1, since: row.at })
        }
        last = row.id
      }
      if (page.nextCursor === null) return { data, nextCursor: null }
    }
    return { data, nextCursor: last ?? null }
  }

  /** The entries as CSV, newest first, some at a time. */
  async *csv(projectId: number, filter: AuditFilter): AsyncGenerator<string> {
    yield csvLine(csvColumns)
    for (let cursor: string | undefined; ; ) {
      const page: AuditRows = await this.list(projectId, { limit: csvPageRows, cursor }, filter)
      const lines = page.data.map((row) => ({ ...row, targetId: row.link?.id ?? null }))
      yield lines.map((row) => csvLine(csvColumns.map((name) => row[name]))).join('')
      if (page.nextCursor === null) return
      cursor = page.nextCursor
    }
  }

  #insert(event: Omit<AuditEvent, 'projectId'> & { projectId: number | SQL | null }): SQL {
    const { by, projectId, action, target, targetRef = null } = event
    const { kind, id, name } = columnsOf(by)
    return sql`
      insert into ${auditEvents} (project_id, number, at, actor_kind, actor_id, actor_name, action, target, target_ref,
        ip_address)
      select ${projectId}, ${nextNumber(projectId, id)}, ${this.#options.now()}, ${kind}, ${id}, ${name}, ${action},
        ${target}, ${targetRef}, ${by?.address ?? null}`
  }
}

/** Whether a key or the service did the same to another call shortly before. */
function isOfRun({ action, actorKind, actorId, at }: AuditRow, run: AuditRun): boolean {
  return (
    (actorKind === 'key' || actorKind === 'service') &&
    targetKinds[action] === 'call' &&
    action === run.action &&
    actorKind === run.actorKind &&
    actorId === run.actorId &&
    Date.parse(run.since) - Date.parse(at) <= runGapMs
  )
}

/** Also correct for several rows that one statement inserts. */
function nextNumber(projectId: number | SQL | null, actorId: string | null): SQL {
  const newest = (condition: SQL) => sql`(
    select number from ${auditEvents} as earlier where ${condition} order by earlier.seq desc limit 1)`
  const ofProject = newest(sql`earlier.project_id = ${projectId}`)
  const ofActor = newest(sql`earlier.project_id is null and earlier.actor_id is ${actorId}`)
  return sql`coalesce(case when ${projectId} is null then ${ofActor} else ${ofProject} end, 0)
    + row_number() over (partition by ${projectId})`
}

/** Selects the `seq` of the event with this id. */
function eventOf(projectId: number, id: string): SQL {
  const [, number, person] = /^(\d{1,15})(?:@([\w-]{1,64}))?$/.exec(id) ?? []
  if (!number) throw invalidRequest([{ field: 'cursor', message: 'must be the nextCursor of another page' }])
  const ofProject = sql`project_id = ${projectId}`
  const ofPerson = sql`project_id is null and actor_id = ${person}`
  return sql`select seq from ${auditEvents} where number = ${Number(number)} and ${person ? ofPerson : ofProject}`
}

const shownColumns = {
  id: sql<string>`number || case when project_id is null then '@' || actor_id else '' end`,
  at: auditEvents.at,
  // A newer process on the same database may record other actions.
  action: sql<AuditAction>`${auditEvents.action}`,
  actorKind: auditEvents.actorKind,
  actor: auditEvents.actorName,
  actorId: auditEvents.actorId,
  target: auditEvents.target,
  targetRef: auditEvents.targetRef,
  ipAddress: auditEvents.ipAddress,
}

const csvColumns = [
  'at',
  'action',
  'actorKind',
  'actor',
  'actorId',
  'target',
  'targetId',
  'ipAddress',
] as const
const csvPageRows = 1_000

/** Drizzle skips what is undefined. */
function conditionOf({ who, action, from, to, target }: AuditFilter) {
  return and(
    sql`true`,
    who === undefined ? undefined : sql`${isKind(who) ? sql`actor_kind` : sql`actor_id`} = ${who}`,
    action === undefined ? undefined : sql`action = ${action}`,
    from === undefined ? undefined : sql`at >= ${from}`,
    to === undefined ? undefined : sql`at < ${to}`,
    // What an analysis sent follows the hash.
    target === undefined ? undefined : sql`(target = ${target} or target glob ${`${target}: *`})`,
  )
}

function isKind(who: string): boolean {
  return (actorKinds as readonly string[]).includes(who)
}

/** `1 call`, `2 calls`: `others` plus the rows that the previous statement changed, counted when the statement runs. */
export function countOf(noun: string, others: number): SQL {
  const count = sql`cast(${others} + changes() as integer)`
  return sql`(${count} || case ${count} when 1 then ${` ${noun}`} else ${` ${noun}s`} end)`
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

function columnsOf(by: AuditEvent['by']): { kind: ActorKind; id: string | null; name: string | SQL | null } {
  if (!by) return { kind: 'commandLine', id: null, name: null }
  if ('kind' in by) return { kind: by.kind, id: by.personId ?? null, name: null }
  const { actor } = by
  if ('keyId' in actor) return { kind: 'key', id: actor.keyId, name: keyLabelSql(actor.keyId) }
  return { kind: 'person', ...actor }
}
