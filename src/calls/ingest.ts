import { setImmediate } from 'node:timers/promises'
import { sql } from 'drizzle-orm'
import { KeyedMutex } from '../db/keyed-mutex.ts'
import type { RecordHash } from '../db/record-hash.ts'
import { calls, erasures, projects } from '../db/schema.ts'
import { inSlices } from '../db/slices.ts'
import { preparedQueries, type StoreOf } from '../db/store.ts'
import { callWords } from '../db/word-tables.ts'
import { AppError, invalidRequest } from '../errors.ts'
import { CallWords } from './call-words.ts'
import { type Admit, readAtOnceCharsMax } from './document.ts'
import { headText } from './head-text.ts'
import { checkChange, mergeCall, type StoredCall } from './merge.ts'
import { type Call, type CallChange, callIdPattern, type Turn } from './schemas.ts'

/** Rounds of reading, merging and writing before we say that other processes change the call too fast. */
const attemptsMax = 20
/**
 * The words of a longer call are left to the backlog: cutting them takes long, and a conversation that grows turn by
 * turn would be indexed as a whole at each of them.
 */
const wordsAtOnceCharsMax = 65_536
/** Of the stored documents that one transaction merges into. */
const charsPerWriteMax = 8_388_608

/** The head's values that a change may set, in the order of their columns. */
const headFacts = [
  'updatedAt',
  'occurredAt',
  'status',
  'evaluation',
  'isEngaged',
  'duration',
  'callerNumber',
  'calledNumber',
  'endedReason',
  'chars',
]

interface IngestOptions {
  store: StoreOf
  recordHash: RecordHash
  /** The most bytes that a call's document may have. */
  config: { readonly callBytesMax: number }
  now: () => number
}

/** What a request or a line says of a call. */
interface Input {
  id: string
  change: CallChange
}

export interface IngestedCall {
  document: string
  isNew: boolean
}

interface StoredRow {
  id: string
  change_seq: number
  occurred_at: number | null
  document: string
  metadata: string | null
}

/** A call as it was read, as it shall become, and which requests made it so. */
interface PendingWrite {
  id: string
  seenChangeSeq: number | null
  before: StoredCall | null
  after: StoredCall
}

const queries = preparedQueries((db) => ({
  longByIds: db
    .select({ id: sql<string>`calls.id`, chars: sql<number>`document_chars` })
    .from(sql`json_each(${sql.placeholder('ids')}) wanted
      cross join calls on calls.project_id = ${sql.placeholder('projectId')} and calls.id = wanted.value`)
    .where(sql`document_chars > ${sql.raw(`${readAtOnceCharsMax}`)}`)
    .prepare(),
  byIds: db
    .select({
      id: sql<string>`calls.id`,
      change_seq: sql<number>`calls.change_seq`,
      occurred_at: sql<number | null>`calls.occurred_at`,
      document: sql<string>`document`,
      metadata: sql<string | null>`metadata`,
    })
    .from(sql`json_each(${sql.placeholder('ids')}) wanted
      cross join calls on calls.project_id = ${sql.placeholder('projectId')} and calls.id = wanted.value
      join call_documents on call_documents.seq = calls.seq
      left join call_metadata on call_metadata.seq = calls.seq`)
    .prepare(),
  deletedHashes: db
    .select({ hash: sql<string>`erasures.id_hash` })
    .from(sql`json_each(${sql.placeholder('hashes')}) wanted cross join erasures
      on erasures.project_id = ${sql.placeholder('projectId')} and erasures.kind = 'call'
      and erasures.id_hash = wanted.value`)
    .prepare(),
}))

/** How platforms and imports bring calls in: create or merge, one or many at a time. */
export class Ingest {
  readonly #options: IngestOptions
  readonly #mutex = new KeyedMutex()
  readonly #longMutex = new KeyedMutex()
  readonly #words = new CallWords()

  constructor(options: IngestOptions) {
    this.#options = options
  }

  /** Creates the call or merges the change into it; committed when it returns. */
  async put(
    projectId: number,
    id: string,
    change: CallChange,
    admit: Admit = admitAll,
  ): Promise<IngestedCall> {
    const inputs = [{ id, change }]
    const chars = (await this.#readLong(projectId, inputs)).get(id) ?? 0
    // Before its turn: else any number could wait for theirs.
    if (chars > 0) admit(chars)
    const [result] = await this.#mutex.run(namesOf(projectId, inputs), () =>
      this.#putSome(projectId, inputs, chars > 0, admit),
    )
    if (!result) throw new Error('Each input has its result')
    if (result instanceof AppError) throw result
    return result
  }

  /**
   * The same for many calls, in one transaction of a constant number of statements unless they are long. What is
   * wrong with one of them is its own answer and does not keep the others out.
   */
  putAll(projectId: number, inputs: readonly Input[]): Promise<(Pick<IngestedCall, 'isNew'> | AppError)[]> {
    return this.#mutex.run(namesOf(projectId, inputs), async () => {
      const long = await this.#readLong(projectId, inputs)
      const sizes = inputs.map(({ id }, position) => [position, long.get(id) ?? 0] as const)
      const results: (Pick<IngestedCall, 'isNew'> | AppError)[] = []
      for (const positions of inSlices(sizes, charsPerWriteMax)) {
        const some = positions.flatMap((position) => inputs[position] ?? [])
        for (const result of await this.#putSome(projectId, some, long.size > 0, admitAll)) {
          // Without the document: many changes of one long call make as many.
          results.push(result instanceof AppError ? result : { isNew: result.isNew })
        }
      }
      return results
    })
  }

  /** Long calls are merged one at a time, and other requests are answered in between. */
  async #putSome(projectId: number, inputs: readonly Input[], areLong: boolean, admit: Admit) {
    if (!areLong) return await this.#putInTurn(projectId, inputs, admit)
    return await this.#longMutex.run(longCalls, async () => {
      await setImmediate()
      return await this.#putInTurn(projectId, inputs, admit)
    })
  }

  async #putInTurn(
    projectId: number,
    inputs: readonly Input[],
    admit: Admit,
  ): Promise<(IngestedCall | AppError)[]> {
    const results: (IngestedCall | AppError)[] = new Array(inputs.length)
    let open = inputs.map((input, position) => ({ ...input, position }))
    for (let attempt = 0; open.length > 0; attempt++) {
      if (attempt === attemptsMax) throw tooContended()
      const { writes, made } = await this.#merge(projectId, open, results, admit)
      const written = await this.#write(projectId, writes)
      open = open.filter(({ id, position }) => {
        const result = made.get(position)
        if (!result) return false
        const write = writes.get(id)
        if (write && !written.has(id)) return true
        results[position] = result
        return false
      })
    }
    return results
  }

  /** Several changes of one call in one go build on each other, in their order. */
  async #merge(
    projectId: number,
    inputs: readonly (Input & { position: number })[],
    results: (IngestedCall | AppError)[],
    admit: Admit,
  ) {
    const [stored, deleted] = await Promise.all([
      this.#readStored(projectId, inputs),
      this.#readDeleted(projectId, inputs),
    ])
    const writes = new Map<string, PendingWrite>()
    const made = new Map<number, IngestedCall>()
    for (const { id, change, position } of inputs) {
      try {
        checkId(id)
        if (deleted.has(id)) {
          // What is wrong with a request is wrong whatever is stored.
          checkChange(id, change)
          throw callWasDeleted()
        }
        const row = stored.get(id)
        const before = writes.get(id)?.after ?? row?.stored ?? null
        const after = mergeCall(before, id, change, this.#options.now())
        if (!before || !isSame(before, after)) {
          this.#checkSize(after.document)
          // One that was long before was admitted by that.
          if (isLong(after) && !(before && isLong(before))) admit(after.document.length)
          writes.set(id, { id, seenChangeSeq: row?.changeSeq ?? null, before: row?.stored ?? null, after })
        }
        made.set(position, { document: after.document, isNew: !before })
      } catch (error) {
        if (!(error instanceof AppError)) throw error
        results[position] = error
      }
    }
    return { writes, made }
  }

  #checkSize(document: string): void {
    const { callBytesMax } = this.#options.config
    if (Buffer.byteLength(document) > callBytesMax) throw callTooLarge(callBytesMax)
  }

  /** Characters of those that are too long to be read at once. */
  async #readLong(projectId: number, inputs: readonly Input[]): Promise<Map<string, number>> {
    const ids = toIds(inputs)
    const rows = await queries(this.#options.store(projectId).read).longByIds.all({ projectId, ids })
    return new Map(rows.map(({ id, chars }) => [id, chars]))
  }

  async #readStored(projectId: number, inputs: readonly Input[]) {
    const ids = toIds(inputs)
    const rows: StoredRow[] = await queries(this.#options.store(projectId).read).byIds.all({ projectId, ids })
    return new Map(
      rows.map((row) => [
        row.id,
        {
          changeSeq: row.change_seq,
          stored: {
            call: JSON.parse(row.document),
            document: row.document,
            occurredAt: row.occurred_at,
            metadata: row.metadata,
          },
        },
      ]),
    )
  }

  async #readDeleted(projectId: number, inputs: readonly Input[]): Promise<Set<string>> {
    const idByHash = new Map(inputs.map(({ id }) => [this.#options.recordHash(projectId, 'call', id), id]))
    const hashes = JSON.stringify([...idByHash.keys()])
    const rows = await queries(this.#options.store(projectId).read).deletedHashes.all({ projectId, hashes })
    return new Set(rows.flatMap(({ hash }) => idByHash.get(hash) ?? []))
  }

  /**
   * Writes what was merged if nothing changed since it was read, and tells which ids it wrote. A row counts
   * as written by this batch when it bears the change number that the batch has just drawn.
   */
  async #write(projectId: number, writes: Map<string, PendingWrite>): Promise<Set<string>> {
    if (writes.size === 0) return new Set()
    const all = [...writes.values()]
    const heads = all.map((write) => this.#toHead(projectId, write))
    const created = JSON.stringify(heads.filter(({ seen }) => seen === null))
    const changed = JSON.stringify(heads.filter(({ seen }) => seen !== null))
    const long = all.filter(({ after }) => isLong(after))
    const documents = JSON.stringify(
      all.filter(({ after }) => !isLong(after)).map(({ id, after }) => [id, after.document]),
    )
    const metadata = JSON.stringify(
      all
        .filter(({ before, after }) => after.metadata !== (before?.metadata ?? null))
        .map(({ id, after }) => [id, after.metadata]),
    )
    const reworded = all.filter(hasOtherWords)
    const isForBacklog = ({ after }: PendingWrite) => charsSaid(after.call) > wordsAtOnceCharsMax
    const words = JSON.stringify(
      reworded
        .filter((write) => !isForBacklog(write))
        .map(({ id, after }) => [id, this.#words.of(after.call)]),
    )
    const backlog = JSON.stringify(reworded.filter(isForBacklog).map(({ id }) => id))
    const { write } = this.#options.store(projectId)
    const drawn = sql`(select change_seq from ${projects} where id = ${projectId})`
    // `cross join` keeps the order: left to itself SQLite goes through all the project's calls for each row.
    const written = (id: string) =>
      sql`cross join calls on calls.project_id = ${projectId} and calls.id = ${sql.raw(id)} and calls.change_seq = ${drawn}`
    const field = (name: string) => sql.raw(`value ->> '${name}'`)
    const facts = sql.join(headFacts.map(field), sql`, `)
    const results = await write.batch([
      write.run(sql`update ${projects} set change_seq = change_seq + 1 where id = ${projectId}`),
      write.run(sql`
        insert into ${calls} (project_id, id, created_at, updated_at, occurred_at, status, evaluation, is_engaged,
          duration, caller_number, called_number, ended_reason, document_chars, change_seq)
        select ${projectId}, ${field('id')}, ${field('createdAt')}, ${facts}, ${drawn}
        from json_each(${created})
        where not exists (select 1 from ${erasures} where project_id = ${projectId} and kind = 'call'
          and id_hash = ${field('hash')})
        on conflict do nothing`),
      // An upsert by seq, since `update … from` goes through all the project's calls.
      write.run(sql`
        insert into ${calls} (seq, project_id, id, created_at, updated_at, occurred_at, status, evaluation,
          is_engaged, duration, caller_number, called_number, ended_reason, document_chars, change_seq)
        select seen.seq, seen.project_id, seen.id, seen.created_at, ${facts}, ${drawn}
        from json_each(${changed}) cross join calls as seen on seen.project_id = ${projectId}
          and seen.id = ${field('id')} and seen.change_seq = ${field('seen')}
        where true on conflict (seq) do update set updated_at = excluded.updated_at,
          occurred_at = excluded.occurred_at, status = excluded.status, evaluation = excluded.evaluation,
          is_engaged = excluded.is_engaged, duration = excluded.duration, caller_number = excluded.caller_number,
          called_number = excluded.called_number, ended_reason = excluded.ended_reason,
          document_chars = excluded.document_chars, change_seq = excluded.change_seq`),
      write.run(sql`
        insert into call_documents (seq, document)
        select calls.seq, value ->> 1 from json_each(${documents}) ${written('value ->> 0')}
        where true on conflict (seq) do update set document = excluded.document`),
      write.run(sql`
        delete from call_metadata where seq in (
          select calls.seq from json_each(${metadata}) ${written('value ->> 0')})`),
      write.run(sql`
        insert into call_metadata (seq, metadata)
        select calls.seq, value ->> 1 from json_each(${metadata}) ${written('value ->> 0')}
        where value ->> 1 is not null`),
      // In the order of their numbers, or each row would become a segment of its own.
      write.run(sql`
        insert or replace into ${callWords(projectId)} (rowid, words)
        select calls.seq, value ->> 1 from json_each(${words}) ${written('value ->> 0')} order by calls.seq`),
      write.run(sql`
        insert or ignore into calls_without_words (seq)
        select calls.seq from json_each(${backlog}) ${written('value')}`),
      write.all<{ id: string }>(sql`
        select calls.id as id from json_each(${JSON.stringify(all.map(({ id }) => id))}) ${written('value')}`),
      // Each by a statement of its own: within JSON it would be parsed again and again.
      ...long.map(({ id, after }) =>
        write.run(sql`
          insert into call_documents (seq, document)
          select seq, ${after.document} from calls
          where project_id = ${projectId} and id = ${id} and change_seq = ${drawn}
          on conflict (seq) do update set document = excluded.document`),
      ),
    ])
    return new Set(results[8].map(({ id }) => id))
  }

  #toHead(projectId: number, { id, seenChangeSeq, after }: PendingWrite) {
    const { call, document, occurredAt } = after
    return {
      id,
      seen: seenChangeSeq,
      hash: this.#options.recordHash(projectId, 'call', id),
      createdAt: Date.parse(call.createdAt),
      updatedAt: Date.parse(call.updatedAt),
      occurredAt,
      status: call.status,
      evaluation: headText(call.evaluation),
      isEngaged: call.isEngaged ? 1 : 0,
      duration: call.duration,
      callerNumber: headText(call.callerNumber),
      calledNumber: headText(call.calledNumber),
      endedReason: headText(call.endedReason),
      chars: document.length,
    }
  }
}

const longCalls = new Set(['long calls'])
const admitAll = () => undefined

function isLong({ document }: StoredCall): boolean {
  return document.length > readAtOnceCharsMax
}

function namesOf(projectId: number, inputs: readonly Input[]): Set<string> {
  return new Set(inputs.map(({ id }) => `${projectId} ${id}`))
}

function toIds(inputs: readonly Input[]): string {
  return JSON.stringify([...new Set(inputs.map(({ id }) => id))])
}

function isSame(a: StoredCall, b: StoredCall): boolean {
  return a.occurredAt === b.occurredAt && a.metadata === b.metadata && a.document === b.document
}

/** A call that says nothing needs no words, unless it said something before. */
function hasOtherWords({ before, after }: PendingWrite): boolean {
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

/** @param id null for a path whose escapes are not UTF-8, whatever the router's types say */
function checkId(id: string | null): void {
  if (id !== null && callIdPattern.test(id)) return
  const message = 'must be 1 to 128 characters of A-Z a-z 0-9 . _ : -, and neither . nor ..'
  throw invalidRequest([{ field: 'id', message }])
}

function callWasDeleted(): AppError {
  return new AppError('call_was_deleted', 'Call was deleted', {
    detail: 'A deleted call stays deleted; its id cannot be used again.',
  })
}

function callTooLarge(bytesMax: number): AppError {
  return new AppError('payload_too_large', 'Payload too large', {
    detail: `A call has at most ${bytesMax} bytes of JSON (CALL_MAX_BYTES); nothing was written.`,
  })
}

function tooContended(): AppError {
  return new AppError('unavailable', 'Service unavailable', {
    detail: 'The call is being changed by too many requests at once; nothing was written.',
    retryAfterSeconds: 1,
  })
}
