import { type SQL, sql } from 'drizzle-orm'
import type { AuditAction, AuditTrail } from '../audit/audit-trail.ts'
import type { RecordHash } from '../db/record-hash.ts'
import { calls, erasures, projects } from '../db/schema.ts'
import type { StoreOf } from '../db/store.ts'
import type { By } from '../identity.ts'
import { type StoredCall, toHead, writtenColumns } from './call-head.ts'
import type { CallWords } from './call-words.ts'
import { isLong } from './document.ts'
import type { Call, Turn } from './schemas.ts'

const cutAtOnceCharsMax = 65_536

/** A call to write, unless it has changed since it was read. */
export interface PendingWrite {
  id: string
  /** The change number when it was read; null for a new call. */
  seenChangeSeq: number | null
  before: StoredCall | null
  after: StoredCall
  /** Whether the call was stored in parts, which its whole document replaces. */
  hadParts: boolean
  audited?: Audited | undefined
}

/** What the audit trail records of a write. */
export interface Audited {
  by: By
  actions: readonly AuditAction[]
}

/** What one transaction writes. */
interface Batch {
  projectId: number
  writes: readonly PendingWrite[]
}

interface CallWriterOptions {
  store: StoreOf
  recordHash: RecordHash
  words: CallWords
  wordBacklog: { schedule(): void }
  audit: Pick<AuditTrail, 'entries'>
}

/** Writes calls with their documents, details and words, many in one transaction. */
export class CallWriter {
  readonly #store: StoreOf
  readonly #recordHash: RecordHash
  readonly #words: CallWords
  readonly #wordBacklog: { schedule(): void }
  readonly #audit: Pick<AuditTrail, 'entries'>

  constructor({ store, recordHash, words, wordBacklog, audit }: CallWriterOptions) {
    this.#store = store
    this.#recordHash = recordHash
    this.#words = words
    this.#wordBacklog = wordBacklog
    this.#audit = audit
  }

  /** @returns the ids that were written. The others have changed since they were read, or were deleted. */
  async write(projectId: number, writes: readonly PendingWrite[]): Promise<Set<string>> {
    if (writes.length === 0) return new Set()
    const { write } = this.#store(projectId)
    const batch = { projectId, writes }
    const rest = [
      ...writeDocuments(batch),
      ...deleteParts(batch),
      ...writeDetails(batch),
      ...this.#writeWords(batch),
      ...this.#recordActions(batch),
    ]
    // Only the needed statements: with so many indexes, preparing one takes as long as running it.
    const [first, ...more] = [...this.#createHeads(batch), ...changeHeads(batch)].map((statement) =>
      write.all<{ id: string }>(statement),
    )
    if (!first) return new Set()
    const [, written, ...others] = await write.batch([
      write.run(
        sql`update ${projects} set change_seq = change_seq + ${writes.length} where id = ${projectId}`,
      ),
      first,
      ...more,
      ...rest.map((statement) => write.run(statement)),
    ])
    this.#wordBacklog.schedule()
    const alsoWritten = others.slice(0, more.length) as { id: string }[][]
    return new Set([written, ...alsoWritten].flat().map(({ id }) => id))
  }

  /** Notes that something arrived of these live calls, which changes nothing that readers see. */
  async hear(projectId: number, ids: readonly string[], at: number): Promise<void> {
    if (ids.length === 0) return
    await this.#store(projectId).write.run(sql`
      update ${calls} set heard_at = ${at} where project_id = ${projectId} and status = 'live'
        and id in (select value from json_each(${JSON.stringify(ids)}))`)
  }

  #createHeads({ projectId, writes }: Batch): SQL[] {
    const heads = numbered(writes)
      .filter(({ seenChangeSeq }) => seenChangeSeq === null)
      .map(({ id, after, number }) => ({
        ...toHead(after),
        ...{ id, number },
        createdAt: Date.parse(after.call.createdAt),
        hash: this.#recordHash(projectId, 'call', id),
      }))
    if (heads.length === 0) return []
    return [
      sql`
      insert into ${calls} (project_id, id, created_at, change_seq, ${names})
      select ${projectId}, value ->> 'id', value ->> 'createdAt', ${changeSeqBefore({ projectId, writes })} + value ->> 'number',
        ${values}
      from json_each(${JSON.stringify(heads)})
      where not exists (select 1 from ${erasures} where project_id = ${projectId} and kind = 'call'
        and id_hash = value ->> 'hash')
      on conflict do nothing returning id`,
    ]
  }

  /** Calls are named by the hash that their deletion also uses, so that nothing of them outlasts it. */
  #recordActions({ projectId, writes }: Batch): SQL[] {
    return [...new Set(writes.map(({ audited }) => audited))].flatMap((audited) => {
      if (!audited) return []
      const targets = writes
        .filter((write) => write.audited === audited)
        .map(({ id }) => [id, this.#recordHash(projectId, 'call', id)] as const)
      return audited.actions.flatMap((action) =>
        forWritten({ projectId, writes }, targets, (calls) =>
          this.#audit.entries({ by: audited.by, projectId, action }, calls),
        ),
      )
    })
  }

  /** Long calls are cut into words in the background: that is slow, and a growing call would be cut at every turn. */
  #writeWords(batch: Batch): SQL[] {
    const words = batch.writes
      .filter(hasOtherWords)
      .map(
        ({ id, after: { call } }) =>
          [id, charsSaid(call) > cutAtOnceCharsMax ? null : this.#words.of(call)] as const,
      )
    return forWritten(
      batch,
      words,
      (calls) => sql`insert or replace into calls_without_words (seq, project_id, words)
        select calls.seq, project_id, value from ${calls}`,
    )
  }
}

const columns = Object.entries(writtenColumns)
const names = sql.raw(columns.map(([, { name }]) => name).join(', '))
const values = sql.raw(columns.map(([key]) => `value ->> '${key}'`).join(', '))
const replaced = sql.raw(columns.map(([, { name }]) => `${name} = excluded.${name}`).join(', '))

/** An upsert by seq, since `update … from` scans all the project's calls. */
function changeHeads({ projectId, writes }: Batch): SQL[] {
  const heads = numbered(writes)
    .filter(({ seenChangeSeq }) => seenChangeSeq !== null)
    .map(({ id, seenChangeSeq, after, number }) => ({
      ...toHead(after),
      ...{ id, number, createdAt: Date.parse(after.call.createdAt), seen: seenChangeSeq },
    }))
  if (heads.length === 0) return []
  return [
    sql`
    insert into ${calls} (seq, project_id, id, created_at, change_seq, ${names})
    select seen.seq, seen.project_id, seen.id, value ->> 'createdAt', ${changeSeqBefore({ projectId, writes })} + value ->> 'number',
      ${values}
    from json_each(${JSON.stringify(heads)}) cross join calls as seen on seen.project_id = ${projectId}
      and seen.id = value ->> 'id' and seen.change_seq = value ->> 'seen'
    where true on conflict (seq) do update set ${replaced}, created_at = excluded.created_at,
      change_seq = excluded.change_seq returning id`,
  ]
}

function writeDocuments({ projectId, writes }: Batch): SQL[] {
  const long = writes.filter(({ after }) => isLong(after.document))
  const short = writes.filter(({ after }) => !isLong(after.document))
  const documents = short.map(({ id, after }) => [id, after.document] as const)
  return [
    ...forWritten(
      { projectId, writes },
      documents,
      (
        calls,
      ) => sql`insert into call_documents (seq, call_change_seq, document) select calls.seq, calls.change_seq, value from ${calls}
        where true on conflict (seq) do update set call_change_seq = excluded.call_change_seq,
          has_parts = false, document = excluded.document`,
    ),
    // A long document has its own statement: inside the JSON object SQLite would parse it.
    ...long.flatMap((write) =>
      forWritten(
        { projectId, writes },
        [withoutValue(write)],
        (
          calls,
        ) => sql`insert into call_documents (seq, call_change_seq, document) select calls.seq, calls.change_seq, ${write.after.document} from ${calls}
          where true on conflict (seq) do update set call_change_seq = excluded.call_change_seq,
          has_parts = false, document = excluded.document`,
      ),
    ),
  ]
}

function deleteParts(batch: Batch): SQL[] {
  const rows = batch.writes.filter(({ hadParts }) => hadParts).map(withoutValue)
  return forWritten(
    batch,
    rows,
    (calls) => sql`delete from call_parts where seq in (select calls.seq from ${calls})`,
  )
}

function writeDetails(batch: Batch): SQL[] {
  return (['details', 'metadata', 'redactions'] as const).flatMap((name) => {
    const rows = batch.writes
      .filter(({ before, after }) => after[name] !== (before?.[name] ?? null))
      .map(({ id, after }) => [id, after[name]] as const)
    const column = sql.raw(name)
    return forWritten(
      batch,
      rows,
      (calls) => sql`insert into call_details (seq, ${column}) select calls.seq, value from ${calls}
        where true on conflict (seq) do update set ${column} = excluded.${column}`,
    )
  })
}

/** Gives each write its own change number, so that readers of changes can continue after any of them. */
function numbered(writes: readonly PendingWrite[]): (PendingWrite & { number: number })[] {
  return writes.map((write, position) => ({ ...write, number: position + 1 }))
}

/** The last change number before this batch. */
function changeSeqBefore({ projectId, writes }: Batch): SQL {
  return sql`(select change_seq - ${writes.length} from ${projects} where id = ${projectId})`
}

/**
 * A statement about the calls that this batch wrote, each with a `value`; only they have its change numbers. `cross
 * join` keeps SQLite from scanning all the project's calls for each id. Values are members of an object because SQLite
 * would parse long values in nested arrays twice.
 */
function forWritten(
  { projectId, writes }: Batch,
  values: readonly (readonly [string, string | null])[],
  statement: (calls: SQL) => SQL,
): SQL[] {
  if (values.length === 0) return []
  const object = JSON.stringify(Object.fromEntries(values))
  return [
    statement(sql`json_each(${object}) cross join calls
      on calls.project_id = ${projectId} and calls.id = key and calls.change_seq > ${changeSeqBefore({ projectId, writes })}`),
  ]
}

function withoutValue({ id }: PendingWrite): [string, null] {
  return [id, null]
}

/** Whether the indexed texts have changed. The words of parts are elsewhere. */
function hasOtherWords({ before, after, hadParts }: PendingWrite): boolean {
  if (hadParts) return true
  const [was, is] = [before?.call ?? silent, after.call]
  return was.summary !== is.summary || !isSameTranscript(was.transcript, is.transcript)
}

const silent = { summary: null, transcript: [] }

function isSameTranscript(a: readonly Turn[], b: readonly Turn[]): boolean {
  return a.length === b.length && a.every(({ content }, at) => content === b[at]?.content)
}

function charsSaid({ summary, transcript }: Pick<Call, 'summary' | 'transcript'>): number {
  return transcript.reduce((sum, { content }) => sum + content.length, summary?.length ?? 0)
}
