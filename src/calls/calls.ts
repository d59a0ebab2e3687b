import { and, eq, type SQL, sql } from 'drizzle-orm'
import { LRUCache } from 'lru-cache'
import type { Core } from '../core/core.ts'
import { callDetails, calls, erasures, projects, recordings } from '../db/schema.ts'
import { preparedQueries } from '../db/store.ts'
import type { Erasure } from '../erasure/erasure.ts'
import { AppError, callIsOnHold, callNotFound } from '../errors.ts'
import type { ActedBy } from '../identity.ts'
import { detailsBytes, documentInForm, servedDetails } from './details.ts'
import { type Admit, type JsonBytes, readAtOnceCharsMax, servedBytes, servedDocument } from './document.ts'
import type { Figures } from './figures/figures.ts'
import { type CallQuery, type CallSearch, isFiltered, valuesOf } from './finding/call-query.ts'
import type { Condition } from './finding/conditions.ts'
import { type CallFacets, countValues, type FacetCounts, readFacets } from './finding/facets.ts'
import { FoundPages, sizesOf, within } from './finding/found-pages.ts'
import { type GivenFilters, readGivenFilters } from './finding/given-filters.ts'
import { Cursors } from './finding/place.ts'
import { readSearchBox } from './finding/search-box.ts'
import type { CallDeletion, CallToDelete } from './keeping/call-deletion.ts'
import type { Callers } from './keeping/callers.ts'
import { type Holds, HoldWasSet } from './keeping/holds.ts'
import { ShownNumbers } from './keeping/shown-numbers.ts'
import { type AnalyzedCall, readForAnalysis, readLastAnalysis } from './reading/analyzed-call.ts'
import {
  type CallRows,
  findNeighbours,
  findRows,
  type Neighbours,
  type TalkTimelines,
} from './reading/call-rows.ts'
import { type CallParts, documentsOf } from './reading/forms.ts'
import { type CallPage, type ExportOptions, exportCalls, readDocuments, readPage } from './reading/page.ts'
import { type ToolUse, toolUses } from './reading/steps.ts'
import type { TextMatcher } from './reading/text-matcher.ts'
import type { Call, CallDetails, HeardSound } from './schemas.ts'
import { heardIn } from './sound/call-sound.ts'
import { readSpeechBytes } from './sound/speech-bytes.ts'
import { ProjectBatches } from './writing/batches.ts'

/** Deletions by hand that share a transaction: some 10 ms of the writer's time. */
const deletionsPerBatchMax = 50
const talkTimelinesMax = 5_000

/** The result of deleting many calls: those deleted, and those that stay because they are on hold. */
interface DeletedCalls {
  deleted: string[]
  held: string[]
}

interface CallsParts {
  erasure: Pick<Erasure, 'schedule'>
  holds: Holds
  deletion: CallDeletion
  callers: Pick<Callers, 'conditionOf'>
  matcher: TextMatcher
  figures: Pick<Figures, 'ask'>
}

const queries = preparedQueries((db) => {
  const isThisCall = and(
    eq(calls.projectId, sql.placeholder('projectId')),
    eq(calls.id, sql.placeholder('id')),
  )
  return {
    changeSeqById: db.select({ changeSeq: calls.changeSeq }).from(calls).where(isThisCall).prepare(),
    /** The document is null if it has more than `bytesMax` bytes. */
    byId: db
      .select({
        changeSeq: sql<number>`case when has_parts then calls.change_seq else call_change_seq end`,
        bytes: servedBytes,
        document: sql<JsonBytes | null>`case when ${servedBytes} <= ${sql.placeholder('bytesMax')}
          then cast(${servedDocument} as blob) end`,
      })
      .from(sql`calls join call_documents on call_documents.seq = calls.seq`)
      .where(isThisCall)
      .prepare(),
    /** The same for its details. */
    detailsById: db
      .select({
        changeSeq: sql<number>`calls.change_seq`,
        bytes: detailsBytes,
        document: sql<JsonBytes | null>`case when ${detailsBytes} <= ${sql.placeholder('bytesMax')}
          then cast(${servedDetails} as blob) end`,
      })
      .from(sql`calls left join call_details on call_details.seq = calls.seq`)
      .where(isThisCall)
      .prepare(),
    numbersById: db
      .select({ callerNumber: calls.callerNumber, calledNumber: calls.calledNumber })
      .from(calls)
      .where(isThisCall)
      .prepare(),
    soundById: db
      .select({
        file: recordings.file,
        speech: recordings.speech,
        muting: recordings.muting,
        sound: sql<string | null>`details -> '$.sound'`,
      })
      .from(calls)
      .leftJoin(recordings, eq(recordings.seq, calls.seq))
      .leftJoin(callDetails, eq(callDetails.seq, calls.seq))
      .where(isThisCall)
      .prepare(),
    byIds: db
      .select({ seq: sql<number>`calls.seq`, id: sql<string>`calls.id` })
      .from(sql`json_each(${sql.placeholder('ids')}) cross join calls on calls.id = value
        and project_id = ${sql.placeholder('projectId')}`)
      .prepare(),
    bySeqs: db
      .select({ seq: sql<number>`calls.seq`, document: documentInForm })
      .from(sql`json_each(${sql.placeholder('seqs')}) cross join calls on calls.seq = value
        and project_id = ${sql.placeholder('projectId')}
        cross join call_documents on call_documents.seq = calls.seq`)
      .prepare(),
  }
})

interface PageRequest {
  search: CallSearch
  limit: number
  offset: number
  /** The page ends before documents of more than this together, but has one call. */
  charsMax?: number
}

/** A project's calls: find, read, delete. */
export class Calls {
  readonly #parts: Core & CallsParts
  readonly #talkTimelines: TalkTimelines = new LRUCache({ max: talkTimelinesMax })
  readonly #shownNumbers = new ShownNumbers()
  readonly #deletions = new ProjectBatches<Deletion, AppError | null>((projectId) => ({
    run: (batch) => this.#deleteTogether(projectId, batch),
    sizeOf: () => 1,
    sizeMax: deletionsPerBatchMax,
  }))

  constructor(core: Core, parts: CallsParts) {
    this.#parts = { ...core, ...parts }
  }

  /** Makes and reads the cursors of lists. */
  cursors(projectId: number): Cursors {
    return new Cursors(this.#parts.recordHash, projectId)
  }

  /** A page of the calls that a search finds, as JSON. */
  async find(
    projectId: number,
    { search, limit, offset, charsMax }: PageRequest,
    parts: CallParts,
  ): Promise<CallPage> {
    const { read, readInBackground } = this.#parts.store(projectId)
    const form = documentsOf(parts)
    const { order, after } = search
    if (!isFiltered(search) && charsMax === undefined)
      return await readPage(read, projectId, { limit, offset, order, after }, form)
    const pages = new FoundPages(readInBackground, projectId, search, read)
    const { places, end } = within(charsMax, await pages.page(limit, { offset }))
    const { total, isCapped } = await pages.count()
    const documents = await readDocuments(read, sizesOf(places), form)
    return { total, totalIsCapped: isCapped, end, ...documents }
  }

  /** A page of the calls that match a query, for the console. @throws invalid_request for a value that cannot be read */
  async rows(projectId: number, query: CallQuery): Promise<CallRows> {
    const { store, matcher } = this.#parts
    const cursors = this.cursors(projectId)
    const talkTimelines = this.#talkTimelines
    const shownNumbers = this.#shownNumbers
    const { read, readForConsole: db } = store(projectId)
    const conditions = await this.#conditionsOf(projectId, query)
    const parts = { matcher, talkTimelines, shownNumbers, cursors, conditions }
    return await findRows(projectId, query, { db, read, ...parts })
  }

  /** The calls before and after one in the console's list. @throws not_found; invalid_request */
  async neighbours(projectId: number, id: string, query: CallQuery): Promise<Neighbours> {
    const conditions = await this.#conditionsOf(projectId, query)
    return await findNeighbours(this.#parts.store(projectId).readForConsole, projectId, id, query, conditions)
  }

  /** The search behind the console's list, for an export. @throws invalid_request for a value that cannot be read */
  async readBox(projectId: number, query: CallQuery): Promise<CallSearch> {
    const conditions = await this.#conditionsOf(projectId, query)
    const db = this.#parts.store(projectId).readForConsole
    return (await readSearchBox(db, projectId, query, { conditions })).search
  }

  /** In the console, `caller` is the address of a person, whose number is in no address: see keeping/callers.ts. */
  async #conditionsOf(projectId: number, query: CallQuery): Promise<Condition[]> {
    const [caller] = valuesOf(query, 'caller') ?? []
    return caller === undefined ? [] : [await this.#parts.callers.conditionOf(projectId, caller)]
  }

  /** How many calls have each value of a filter, among those that the other filters leave. @throws not_found; invalid_request */
  countValues(projectId: number, name: string, query: CallQuery): Promise<FacetCounts> {
    const { store, figures } = this.#parts
    return countValues({ db: store(projectId).readForConsole, figures }, projectId, name, query)
  }

  /** The values that calls can be filtered by. */
  facets(projectId: number): Promise<CallFacets> {
    const { store, figures } = this.#parts
    return readFacets({ db: store(projectId).readForConsole, figures }, projectId)
  }

  /**
   * The completed calls that filters of a body find, newest first, with the characters of their documents.
   * @throws invalid_request naming each filter that cannot be read
   */
  async *completed(
    projectId: number,
    filters: GivenFilters,
  ): AsyncGenerator<{ seq: number; chars: number }[]> {
    const { readInBackground } = this.#parts.store(projectId)
    const pages = new FoundPages(readInBackground, projectId, readGivenFilters(filters, 'filters'))
    for await (const places of pages.all()) {
      const seqs = JSON.stringify(places.map(({ seq }) => seq))
      yield await readInBackground
        .select({ seq: sql<number>`calls.seq`, chars: sql<number>`document_chars` })
        .from(
          sql`json_each(${seqs}) as wanted cross join calls on calls.seq = wanted.value and status = 'completed'`,
        )
        .orderBy(sql`wanted.key`)
    }
  }

  /** A call as an analysis needs it, by its row number; null if it was deleted. @param charsMax a longer one has no transcript */
  forAnalysis(projectId: number, seq: number, charsMax: number): Promise<AnalyzedCall | null> {
    return readForAnalysis(this.#parts.store(projectId).read, projectId, seq, charsMax)
  }

  /** What the last analysis of a call came to; null for an unknown call. */
  lastAnalysis(projectId: number, id: string): ReturnType<typeof readLastAnalysis> {
    return readLastAnalysis(this.#parts.store(projectId).read, projectId, id)
  }

  /** How many calls a search finds, and whether there are more than were counted. */
  count(projectId: number, search: CallSearch): ReturnType<FoundPages['count']> {
    return new FoundPages(this.#parts.store(projectId).readInBackground, projectId, search).count()
  }

  /** Yields all calls that a search finds, in parts. */
  export(
    projectId: number,
    search: CallSearch,
    options: Omit<ExportOptions, 'read'>,
  ): AsyncGenerator<string | JsonBytes> {
    const { read, readInBackground } = this.#parts.store(projectId)
    return exportCalls(new FoundPages(readInBackground, projectId, search), { ...options, read })
  }

  /** The number of the call's last change. @throws not_found */
  async changeSeq(projectId: number, id: string): Promise<number> {
    const row = await queries(this.#parts.store(projectId).read).changeSeqById.get({ projectId, id })
    if (!row) throw callNotFound()
    return row.changeSeq
  }

  /** The stored JSON of the call, byte for byte. */
  get(projectId: number, id: string, admit?: Admit): Promise<StoredDocument> {
    return readDocument(queries(this.#parts.store(projectId).read).byId, { projectId, id }, admit)
  }

  /** What is known about a call beyond its thirteen fields, as JSON bytes. */
  details(projectId: number, id: string, admit?: Admit): Promise<StoredDocument> {
    return readDocument(queries(this.#parts.store(projectId).read).detailsById, { projectId, id }, admit)
  }

  /** What was said in a call, what its tools answered, and what a person noted of it. @throws not_found */
  async conversation(projectId: number, id: string): Promise<Conversation> {
    const document = await this.get(projectId, id)
    const { status, transcript }: Call = JSON.parse(textOf(document))
    const { timeline, review }: CallDetails = JSON.parse(textOf(await this.details(projectId, id)))
    return { status, transcript, tools: toolUses(transcript.length, timeline), note: review?.note ?? null }
  }

  /** The same for the console, which begins with the call's phone numbers as people read them. */
  async shownDetails(projectId: number, id: string, admit?: Admit): Promise<StoredDocument> {
    const { document, changeSeq } = await this.details(projectId, id, admit)
    const stored = await queries(this.#parts.store(projectId).read).numbersById.get({ projectId, id })
    if (!stored) throw callNotFound()
    const start = Buffer.from(`{"numbers":${JSON.stringify(await this.#shownNumbers.of(stored))},`)
    return { document: Buffer.concat([start, document.subarray(1)]), changeSeq }
  }

  /** Documents by row number. Deleted calls are absent. */
  async documents(
    projectId: number,
    seqs: readonly number[],
    isDetailed = false,
  ): Promise<Map<number, string>> {
    if (seqs.length === 0) return new Map()
    const { bySeqs } = queries(this.#parts.store(projectId).read)
    const parameters = { projectId, seqs: JSON.stringify(seqs), isDetailed: Number(isDetailed) }
    const rows = await bySeqs.all(parameters)
    return new Map(rows.map(({ seq, document }) => [seq, document]))
  }

  /** What is heard in a call's recording. @throws not_found */
  async sound(projectId: number, id: string): Promise<HeardSound> {
    const row = await queries(this.#parts.store(projectId).read).soundById.get({ projectId, id })
    if (!row) throw callNotFound()
    if (row.file === null || row.sound === null) throw new AppError('not_found', 'Recording not found')
    return heardIn(
      row.speech && readSpeechBytes(row.speech),
      JSON.parse(row.sound),
      row.muting?.spans ?? null,
    )
  }

  /** Deletes calls for good. Returns which were deleted, and which stay because they are on hold. */
  async deleteAll(projectId: number, ids: readonly string[], by?: ActedBy): Promise<DeletedCalls> {
    const answer: DeletedCalls = { deleted: [], held: [] }
    const deleteOne = async (id: string) => {
      const refusal = await this.#deletions.add(projectId, { id, by })
      if (!refusal) answer.deleted.push(id)
      // Another person may have deleted it meanwhile.
      else if (refusal.code === 'call_on_hold') answer.held.push(id)
    }
    await Promise.all([...new Set(ids)].map(deleteOne))
    return answer
  }

  /** Deletes a call for good: its id cannot be ingested again. @throws not_found, call_on_hold */
  async delete(projectId: number, id: string, by?: ActedBy): Promise<{ id: string; deleted: true }> {
    const refusal = await this.#deletions.add(projectId, { id, by })
    if (refusal) throw refusal
    return { id, deleted: true }
  }

  async #deleteTogether(projectId: number, requests: readonly Deletion[]): Promise<(AppError | null)[]> {
    try {
      return await this.#deleteOnce(projectId, requests)
    } catch (error) {
      if (error instanceof HoldWasSet) return await this.#deleteTogether(projectId, requests)
      throw error
    }
  }

  /** @returns for each call, why it was not deleted */
  async #deleteOnce(projectId: number, requests: readonly Deletion[]): Promise<(AppError | null)[]> {
    const { store, holds, deletion, erasure } = this.#parts
    const { read } = store(projectId)
    const ids = JSON.stringify([...new Set(requests.map(({ id }) => id))])
    const rows = await queries(read).byIds.all({ projectId, ids })
    const selection = sql`select value as seq from json_each(${JSON.stringify(rows.map(({ seq }) => seq))})`
    const holding = await holds.among(read, projectId, selection)
    const toDelete = rows.filter(({ seq }) => !holding.seqs.has(seq))
    let deletedSeqs = new Set<number>()
    if (toDelete.length > 0) {
      const after = this.#recordDeletions(projectId, toDelete, requests)
      deletedSeqs = await deletion.delete(projectId, toDelete, { onHold: holding, requestId: null, after })
      erasure.schedule(projectId)
    }
    const seqs = new Map(rows.map(({ id, seq }) => [id, seq]))
    return requests.map(({ id }) => {
      const seq = seqs.get(id) ?? 0
      if (holding.seqs.has(seq)) return callIsOnHold()
      // Of two requests for one call, the first has deleted it.
      return deletedSeqs.delete(seq) ? null : callNotFound()
    })
  }

  /** An entry for each call that the batch deletes: only their ledger rows have its change numbers. */
  #recordDeletions(
    projectId: number,
    toDelete: readonly CallToDelete[],
    requests: readonly Deletion[],
  ): SQL[] {
    const { audit, recordHash } = this.#parts
    const first = sql`(select change_seq - ${toDelete.length} from ${projects} where id = ${projectId})`
    const askedBy = new Map<string, Deletion>()
    for (const one of requests) if (!askedBy.has(one.id)) askedBy.set(one.id, one)
    const actors = new Map(requests.map(({ by }) => [JSON.stringify(by), by]))
    return [...actors].map(([actor, by]) => {
      const hashes = toDelete
        .filter(({ id }) => JSON.stringify(askedBy.get(id)?.by) === actor)
        .map(({ id }) => recordHash(projectId, 'call', id))
      return audit.entries(
        { by, projectId, action: 'call_deleted' },
        sql`json_each(${JSON.stringify(hashes)}) cross join ${erasures} on erasures.project_id = ${projectId}
          and kind = 'call' and id_hash = value and change_seq > ${first}`,
      )
    })
  }
}

/** A call to delete, and who asks for it. */
interface Deletion {
  id: string
  by: ActedBy | undefined
}

/** What is said in a call. */
export interface Conversation extends Pick<Call, 'status' | 'transcript'> {
  tools: ToolUse[]
  /** Of its review. */
  note: string | null
}

function textOf({ document }: StoredDocument): string {
  return Buffer.from(document).toString()
}

interface StoredDocument {
  document: JsonBytes
  /** The number of the call's last change. */
  changeSeq: number
}

type DocumentQuery = ReturnType<typeof queries>['byId' | 'detailsById']

/** Reads a large document only once there is room for it. */
async function readDocument(
  query: DocumentQuery,
  call: { projectId: number; id: string },
  admit: Admit = () => undefined,
): Promise<StoredDocument> {
  let row = await query.get({ ...call, bytesMax: readAtOnceCharsMax })
  if (row && !row.document) {
    admit(row.bytes)
    row = await query.get({ ...call, bytesMax: Number.MAX_SAFE_INTEGER })
  }
  if (!row?.document) throw callNotFound()
  return { document: row.document, changeSeq: row.changeSeq }
}
