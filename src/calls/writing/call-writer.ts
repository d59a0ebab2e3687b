import { type Placeholder, type SQL, sql } from 'drizzle-orm'
import type { AuditAction } from '../../audit/actions.ts'
import type { Core } from '../../core/core.ts'
import type { Requirement } from '../../db/requirements.ts'
import { analysisQueue, calls, erasures, projects, recordings, rubrics, soundDue } from '../../db/schema.ts'
import { preparedSql } from '../../db/store.ts'
import type { ActedBy } from '../../identity.ts'
import { type StoredCall, toHead, writtenColumns } from '../call-head.ts'
import { isLong } from '../document.ts'
import type { CallWords } from '../finding/call-words.ts'
import type { WordBacklog } from '../finding/word-backlog.ts'
import { verdictChange } from '../review/review.ts'
import type { Call, Turn } from '../schemas.ts'

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
  beside?: Beside | undefined
  /** Whether the call is of a platform's history: if it is new, nobody hears of it and it is not analyzed. */
  isHistory?: boolean | undefined
}

/** What is written together with a call, or not at all. */
export interface Beside {
  requirement?: Requirement
  /** @param seq selects the call's row number */
  statements(seq: SQL): SQL[]
  /** Whether it frees space, so that it is written even on a full disk. */
  isDeletion?: boolean
}

/** What the audit trail records of a write. */
export interface Audited {
  /** Absent for the service itself. */
  by?: ActedBy | undefined
  actions: readonly AuditAction[]
}

/** What one transaction writes. */
interface Batch {
  projectId: number
  writes: readonly PendingWrite[]
}

interface CallWriterParts {
  words: CallWords
  wordBacklog: Pick<WordBacklog, 'schedule'>
  analysisDelayMs: number | null
}

/** Writes calls with their documents, details and words, many in one transaction. */
export class CallWriter {
  readonly #parts: Core & CallWriterParts

  constructor(core: Core, parts: CallWriterParts) {
    this.#parts = { ...core, ...parts }
  }

  /** @returns the ids that were written. The others have changed since they were read, or were deleted. */
  async write(projectId: number, writes: readonly PendingWrite[]): Promise<Set<string>> {
    if (writes.length === 0) return new Set()
    const store = this.#parts.store(projectId)
    const write = writes.every(({ beside }) => beside?.isDeletion) ? store.writeWhenFull : store.write
    const batch = { projectId, writes }
    // Only the needed statements: with so many indexes, preparing one takes as long as running it.
    const heads = [...this.#createHeads(batch), ...changeHeads(batch)]
    if (heads.length === 0) return new Set()
    const { storedHeads } = await write.batchIf(requirementsOf(batch), {
      numbers: takeNumbers({ projectId, count: writes.length }),
      storedHeads: heads.map((statement) => write.all<{ id: string }>(statement)),
      documents: writeDocuments(batch),
      parts: deleteParts(batch),
      details: writeDetails(batch),
      words: this.#writeWords(batch),
      analyses: this.#queueAnalyses(batch),
      entries: this.#recordActions(batch),
      sounds: outdateSounds(batch),
      beside: writeBeside(batch),
      silenced: forWritten(batch, batch.writes.filter(isSilent).map(withoutValue), dropEvents),
    })
    this.#parts.wordBacklog.schedule()
    return new Set(storedHeads.flat().map(({ id }) => id))
  }

  /** Notes that something arrived of these live calls, which changes nothing that readers see. */
  async hear(projectId: number, ids: readonly string[], at: number): Promise<void> {
    if (ids.length === 0) return
    await this.#parts.store(projectId).write.run(sql`
      update ${calls} set heard_at = ${at} where project_id = ${projectId} and status = 'live'
        and id in (select value from json_each(${JSON.stringify(ids)}))`)
  }

  #createHeads({ projectId, writes }: Batch): SQL[] {
    const heads = withNumbers(writes)
      .filter(({ seenChangeSeq }) => seenChangeSeq === null)
      .map(({ id, after, number }) => ({
        ...toHead(after),
        id,
        number,
        createdAt: Date.parse(after.call.createdAt),
        hash: this.#parts.recordHash(projectId, 'call', id),
      }))
    if (heads.length === 0) return []
    return [createHeads({ projectId, count: writes.length, values: JSON.stringify(heads) })]
  }

  /** Calls are named by the hash that their deletion also uses, so that nothing of them outlasts it. */
  #recordActions({ projectId, writes }: Batch): SQL[] {
    return [...new Set(writes.map(({ audited }) => audited))].flatMap((audited) => {
      if (!audited) return []
      const audits = writes.filter((write) => write.audited === audited)
      return audited.actions.flatMap((action) =>
        forWritten(
          { projectId, writes },
          audits.map((write) => [write.id, this.#targetOf(projectId, action, write)] as const),
          (values) =>
            this.#parts.audit.entries(
              { by: audited.by, projectId, action, targetRef: sql`calls.seq` },
              joinWritten(values),
            ),
        ),
      )
    })
  }

  #targetOf(projectId: number, action: AuditAction, { id, before, after }: PendingWrite): string {
    const hash = this.#parts.recordHash(projectId, 'call', id)
    const change = action === 'call_evaluated' && before ? verdictChange(before, after) : ''
    return change === '' ? hash : `${hash}: ${change}`
  }

  #queueAnalyses(batch: Batch): SQL[] {
    const { analysisDelayMs, now } = this.#parts
    if (analysisDelayMs === null) return []
    const dueAt = String(now() + analysisDelayMs)
    const due = batch.writes.filter((write) => isForAnalysis(write) && !isSilent(write))
    const queued = due.map(({ id }) => [id, dueAt] as const)
    const outdated = due.filter(({ before }) => before?.call.status === 'completed').map(withoutValue)
    return [...forWritten(batch, queued, queueAnalyses), ...forWritten(batch, outdated, outdateRuns)]
  }

  /** Long calls are cut into words in the background: that is slow, and a growing call would be cut at every turn. */
  #writeWords(batch: Batch): SQL[] {
    const words = batch.writes
      .filter(hasOtherWords)
      .map(
        ({ id, after: { call } }) =>
          [id, textChars(call) > cutAtOnceCharsMax ? null : this.#parts.words.of(call)] as const,
      )
    return forWritten(batch, words, keepWords)
  }
}

const columns = Object.entries(writtenColumns)
const names = sql.raw(columns.map(([, { name }]) => name).join(', '))
const values = sql.raw(columns.map(([key]) => `value ->> '${key}'`).join(', '))
const replacements = sql.raw(columns.map(([, { name }]) => `${name} = excluded.${name}`).join(', '))

/** What the statements take: `count` is the number of writes, `values` JSON. */
type Parameter = 'projectId' | 'count' | 'values'
type Statement = Record<Parameter, Placeholder | string | number>
const parameters = {
  projectId: sql.placeholder('projectId'),
  count: sql.placeholder('count'),
  values: sql.placeholder('values'),
}

/** The last change number before this batch. */
function changeSeqBefore({ projectId, count }: Omit<Statement, 'values'>): SQL {
  return sql`(select change_seq - ${count} from ${projects} where id = ${projectId})`
}

/**
 * The calls that this batch wrote, since only they have its change numbers. `cross join` keeps SQLite from scanning all
 * the project's calls for each id.
 */
function joinWritten({ projectId, count, values }: Statement): SQL {
  return sql`json_each(${values}) cross join calls on calls.project_id = ${projectId} and calls.id = key
    and calls.change_seq > ${changeSeqBefore({ projectId, count })}`
}

const takeNumbers = preparedSql<'projectId' | 'count'>(
  sql`update ${projects} set change_seq = change_seq + ${parameters.count} where id = ${parameters.projectId}`,
)
const createHeads = preparedSql<Parameter>(sql`
  insert into ${calls} (project_id, id, created_at, change_seq, ${names})
  select ${parameters.projectId}, value ->> 'id', value ->> 'createdAt', ${changeSeqBefore(parameters)} + value ->> 'number', ${values}
  from json_each(${parameters.values})
  where not exists (select 1 from ${erasures} where project_id = ${parameters.projectId} and kind = 'call'
    and id_hash = value ->> 'hash')
  on conflict do nothing returning id`)
/** An upsert by seq, since `update … from` scans all the project's calls. */
const replaceHeads = preparedSql<Parameter>(sql`
  insert into ${calls} (seq, project_id, id, created_at, change_seq, ${names})
  select seen.seq, seen.project_id, seen.id, value ->> 'createdAt', ${changeSeqBefore(parameters)} + value ->> 'number', ${values}
  from json_each(${parameters.values}) cross join calls as seen on seen.project_id = ${parameters.projectId}
    and seen.id = value ->> 'id' and seen.change_seq = value ->> 'seen'
  where true on conflict (seq) do update set ${replacements}, created_at = excluded.created_at,
    change_seq = excluded.change_seq returning id`)
const writeShort = writeDocument<Parameter>(sql`value`)
const writeLong = writeDocument<Parameter | 'document'>(sql.placeholder('document'))
const removeParts = preparedSql<Parameter>(
  sql`delete from call_parts where seq in (select calls.seq from ${joinWritten(parameters)})`,
)
const keepWords = preparedSql<Parameter>(sql`
  insert or replace into calls_without_words (seq, project_id, words)
  select calls.seq, project_id, value from ${joinWritten(parameters)}`)
/** Queues calls of projects whose rubric is not switched off. */
const queueAnalyses = preparedSql<Parameter>(sql`
  insert into ${analysisQueue} (seq, project_id, due_at, change_seq)
  select calls.seq, calls.project_id, value, calls.change_seq from ${joinWritten(parameters)}
  where (select content ->> '$.share' from ${rubrics} where rubrics.project_id = ${parameters.projectId}
    order by version desc limit 1) > 0
  on conflict (seq, run_id) do update set due_at = excluded.due_at, change_seq = excluded.change_seq, attempts = 0`)
const outdateSound = preparedSql<Parameter>(sql`
  update ${recordings} set sound_due = ${sql.raw(String(soundDue.figures))}
  where (sound_due is null or sound_due = ${sql.raw(String(soundDue.decoded))})
    and seq in (select calls.seq from ${joinWritten(parameters)})`)
/** Of a call that this batch created, triggers have queued nothing else. */
const dropEvents = preparedSql<Parameter>(sql`
  delete from webhook_queue where kind = 'call' and record in (select calls.seq from ${joinWritten(parameters)})`)
/** What a run is asking about the transcript as it was is not stored, and asked again. */
const outdateRuns = preparedSql<Parameter>(sql`
  update ${analysisQueue} set change_seq = (select change_seq from calls where calls.seq = analysis_queue.seq)
  where run_id <> '' and seq in (select calls.seq from ${joinWritten(parameters)})`)
const detailColumns = (['details', 'metadata', 'redactions', 'analysis'] as const).map((name) => {
  const column = sql.raw(name)
  const write = preparedSql<Parameter>(sql`
    insert into call_details (seq, ${column}) select calls.seq, value from ${joinWritten(parameters)}
    where true on conflict (seq) do update set ${column} = excluded.${column}`)
  return [name, write] as const
})

function writeDocument<Name extends Parameter | 'document'>(document: SQL | Placeholder) {
  return preparedSql<Name>(sql`
    insert into call_documents (seq, call_change_seq, document)
    select calls.seq, calls.change_seq, ${document} from ${joinWritten(parameters)}
    where true on conflict (seq) do update set call_change_seq = excluded.call_change_seq,
      has_parts = false, document = excluded.document`)
}

function changeHeads({ projectId, writes }: Batch): SQL[] {
  const heads = withNumbers(writes)
    .filter(({ seenChangeSeq }) => seenChangeSeq !== null)
    .map(({ id, seenChangeSeq, after, number }) => ({
      ...toHead(after),
      id,
      number,
      createdAt: Date.parse(after.call.createdAt),
      seen: seenChangeSeq,
    }))
  if (heads.length === 0) return []
  return [replaceHeads({ projectId, count: writes.length, values: JSON.stringify(heads) })]
}

function writeDocuments(batch: Batch): SQL[] {
  const long = batch.writes.filter(({ after }) => isLong(after.document))
  const short = batch.writes.filter(({ after }) => !isLong(after.document))
  const documents = short.map(({ id, after }) => [id, after.document] as const)
  return [
    ...forWritten(batch, documents, writeShort),
    // A long document has its own statement: inside the JSON object SQLite would parse it.
    ...long.flatMap((write) =>
      forWritten(batch, [withoutValue(write)], (values) =>
        writeLong({ ...values, document: write.after.document }),
      ),
    ),
  ]
}

function deleteParts(batch: Batch): SQL[] {
  return forWritten(batch, batch.writes.filter(({ hadParts }) => hadParts).map(withoutValue), removeParts)
}

function writeDetails(batch: Batch): SQL[] {
  return detailColumns.flatMap(([name, write]) => {
    const rows = batch.writes
      .filter(({ before, after }) => after[name] !== (before?.[name] ?? null))
      .map(({ id, after }) => [id, after[name]] as const)
    return forWritten(batch, rows, write)
  })
}

/** The figures of a sound follow what they depend on. */
function outdateSounds(batch: Batch): SQL[] {
  return forWritten(batch, batch.writes.filter(hasOtherSound).map(withoutValue), outdateSound)
}

function requirementsOf({ writes }: Batch): Requirement[] {
  return writes.flatMap(({ beside }) => beside?.requirement ?? [])
}

/** Without a row number, as of a call that this batch did not write, the statements change nothing. */
function writeBeside({ projectId, writes }: Batch): SQL[] {
  const before = changeSeqBefore({ projectId, count: writes.length })
  return writes.flatMap(
    ({ id, beside }) =>
      beside?.statements(sql`(
        select seq from ${calls} where project_id = ${projectId} and id = ${id} and change_seq > ${before})`) ??
      [],
  )
}

/** Gives each write its own change number, so that readers of changes can continue after any of them. */
function withNumbers(writes: readonly PendingWrite[]): (PendingWrite & { number: number })[] {
  return writes.map((write, position) => ({ ...write, number: position + 1 }))
}

/**
 * A statement about the calls that this batch wrote, each with a `value`. Values are members of an object because SQLite
 * would parse long values in nested arrays twice.
 */
function forWritten(
  { projectId, writes }: Batch,
  values: readonly (readonly [string, string | null])[],
  statement: (values: Record<Parameter, string | number>) => SQL,
): SQL[] {
  if (values.length === 0) return []
  return [statement({ projectId, count: writes.length, values: JSON.stringify(Object.fromEntries(values)) })]
}

function withoutValue({ id }: PendingWrite): [string, null] {
  return [id, null]
}

function isSilent({ isHistory, seenChangeSeq }: PendingWrite): boolean {
  return isHistory === true && seenChangeSeq === null
}

/** Whether the call is completed now, or its transcript has changed since. */
function isForAnalysis({ before, after }: PendingWrite): boolean {
  if (after.call.status !== 'completed') return false
  if (before?.call.status !== 'completed') return true
  const [was, is] = [before.call.transcript, after.call.transcript]
  return !isSameTranscript(was, is) || was.some(({ role }, at) => role !== is[at]?.role)
}

/** Whether a call with a recording is completed now, or its transcript or timeline have changed since. */
function hasOtherSound(write: PendingWrite): boolean {
  const { before, after } = write
  // One that waits to be muted has arrived already, or else its row is not there yet.
  if (after.recording !== 'kept' && after.recording !== 'waiting') return false
  return (
    isForAnalysis(write) || (after.call.status === 'completed' && timelineIn(before) !== timelineIn(after))
  )
}

/** As its text: parsing details takes long. Quotes inside a text are escaped, so its place is found exactly. */
function timelineIn(call: StoredCall | null): string {
  const { details } = call ?? { details: null }
  return details === null
    ? ''
    : details.slice(details.indexOf(',"timeline":['), details.indexOf('],"review":'))
}

/** Whether the indexed texts or numbers have changed. The words of parts are elsewhere. */
function hasOtherWords({ before, after, hadParts }: PendingWrite): boolean {
  if (hadParts) return true
  const [was, is] = [before?.call ?? silent, after.call]
  const isSame = (['summary', 'callerNumber', 'calledNumber'] as const).every(
    (name) => was[name] === is[name],
  )
  return !isSame || !isSameTranscript(was.transcript, is.transcript)
}

const silent = { summary: null, callerNumber: null, calledNumber: null, transcript: [] }

/** Whether the same words are said, whoever says them. */
function isSameTranscript(a: readonly Turn[], b: readonly Turn[]): boolean {
  return a.length === b.length && a.every(({ content }, at) => content === b[at]?.content)
}

function textChars({ summary, transcript }: Pick<Call, 'summary' | 'transcript'>): number {
  return transcript.reduce((sum, { content }) => sum + content.length, summary?.length ?? 0)
}
