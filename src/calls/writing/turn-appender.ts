import { type SQL, sql } from 'drizzle-orm'
import type { Core } from '../../core/core.ts'
import type { ReadDatabase } from '../../db/reader.ts'
import { projects } from '../../db/schema.ts'
import { preparedQueries } from '../../db/store.ts'
import { storedDetailsBytes } from '../details.ts'
import {
  endChars,
  type JsonBytes,
  readAtOnceCharsMax,
  servedBytes,
  servedDocument,
  upToUpdatedAtChars,
} from '../document.ts'
import type { CallWords } from '../finding/call-words.ts'
import { type CallChange, transcriptTurnsMax } from '../schemas.ts'
import { checkChange, eventTimes, heardAtOf, onlyTurn } from './merge.ts'
import type { Redactions } from './redaction.ts'

/** After so many appends, the whole document is written again. Only that takes longer the longer the call is. */
const partsMax = 64
/** Longer turns are written with the whole document. */
const partCharsMax = 4_096
/** When the words of parts are indexed. Until then, every search reads all parts. */
const indexedAfterMs = 60_000

interface TurnAppenderParts {
  words: CallWords
}

const queries = preparedQueries((db) => ({
  live: liveCall(db, sql<JsonBytes>`cast(${servedDocument} as blob)`),
  unanswered: liveCall(db, sql<null>`null`),
}))

function liveCall<Document>(db: ReadDatabase, document: SQL<Document>) {
  return db
    .select({
      seq: sql<number>`calls.seq`,
      changeSeq: sql<number>`change_seq`,
      occurredAt: sql<number | null>`occurred_at`,
      heardAt: sql<number | null>`heard_at`,
      createdOnArrival: sql<number>`created_on_arrival`,
      documentChars: sql<number>`document_chars`,
      detailsBytes: storedDetailsBytes,
      hasParts: sql<number>`has_parts`,
      parts: sql<number>`(select count(*) from call_parts where call_parts.seq = calls.seq)`,
      turnCount: sql<number>`case when has_parts then
        (select max(turn_count) from call_parts where call_parts.seq = calls.seq)
        else json_array_length(document, '$.transcript') end`,
      documentBytes: servedBytes,
      document,
    })
    .from(sql`calls cross join call_documents on call_documents.seq = calls.seq`)
    .where(
      sql`project_id = ${sql.placeholder('projectId')} and id = ${sql.placeholder('id')} and status = 'live'`,
    )
    .prepare()
}

/** Appends turns to a live call without reading or rewriting its document. */
export class TurnAppender {
  readonly #parts: Core & TurnAppenderParts

  constructor(core: Core, parts: TurnAppenderParts) {
    this.#parts = { ...core, ...parts }
  }

  /**
   * @returns the call after the append, empty with `isMinimal`; null if the change must be merged instead, because it does
   * more than append, or because the whole document is due to be written
   * @throws invalid_request
   */
  async append(
    projectId: number,
    { id, change, redactions, isMinimal = false }: Appending,
  ): Promise<{ document: JsonBytes | ''; isNew: false } | null> {
    const { appendTranscript } = change
    // Redaction counts are stored with the rest of the call.
    if (redactions?.turns?.counts.some((counts) => Object.keys(counts).length > 0)) return null
    if (!appendTranscript || !onlyAppends(change)) return null
    const { store, config, words, now } = this.#parts
    const { read, write } = store(projectId)
    const { live, unanswered } = queries(read)
    const call = await (isMinimal ? unanswered : live).get({ projectId, id })
    if (!call || call.parts >= partsMax || call.turnCount === 0 || appendTranscript.at !== call.turnCount)
      return null
    if (call.createdOnArrival && change.createdAt !== undefined) return null
    const turns = appendTranscript.turns.map((turn) => `,${JSON.stringify(onlyTurn(turn))}`).join('')
    const turnCount = call.turnCount + appendTranscript.turns.length
    const chars = call.documentChars + turns.length
    const isTooMuch = turns.length > partCharsMax || turnCount > transcriptTurnsMax
    // The request must be admitted before a long document is read.
    const growsLong = call.documentChars <= readAtOnceCharsMax && chars > readAtOnceCharsMax
    if (turns === '' || isTooMuch || growsLong) return null
    const time = now()
    const { occurredAt, updatedAt } = eventTimes(checkChange(id, change), call.occurredAt)
    const servedUpdatedAt = new Date(updatedAt ?? time).toISOString()
    const bytes = call.documentBytes + Buffer.byteLength(turns) + call.detailsBytes
    if (bytes > config.callBytesMax) return null
    const heardAt = heardAtOf(call, time)
    const newWords = words.of({ ...wordless, transcript: appendTranscript.turns })
    const changeSeq = sql`(select change_seq from ${projects} where id = ${projectId})`
    // Matches only if this batch has written the head.
    const ownHead = sql`calls where seq = ${call.seq} and change_seq = ${changeSeq}`
    const { changed } = await write.batch({
      number: sql`update ${projects} set change_seq = change_seq + 1 where id = ${projectId}`,
      changed: write.all<{ seq: number }>(sql`
        update calls set change_seq = ${changeSeq}, updated_at = ${Date.parse(servedUpdatedAt)},
          ${heardAt === call.heardAt ? sql`` : sql`heard_at = ${heardAt},`}
          occurred_at = ${occurredAt}, document_chars = ${chars}
        where seq = ${call.seq} and change_seq = ${call.changeSeq} returning seq`),
      part: sql`
        insert into call_parts (seq, turn_count, turns, words, updated_at)
        select seq, ${turnCount}, ${turns}, ${newWords}, ${servedUpdatedAt} from ${ownHead}`,
      // If all words of the call are there, these are added.
      words: sql`
        insert into calls_without_words (seq, project_id, due_at)
        select seq, ${projectId}, ${time + indexedAfterMs} from ${ownHead}
        on conflict (seq) do update set words = words || ${newWords}`,
      document: call.hasParts
        ? []
        : [sql`update call_documents set has_parts = true where seq = (select seq from ${ownHead})`],
    })
    // The call has changed since it was read, or was deleted.
    if (changed.length === 0) return null
    return { document: call.document ? appended(call.document, turns, servedUpdatedAt) : '', isNew: false }
  }
}

/** What an append does not change. */
const wordless = { summary: null, callerNumber: null, calledNumber: null }

interface Appending {
  id: string
  change: CallChange
  redactions?: Redactions
  isMinimal?: boolean
}

const appendFields = new Set(['appendTranscript', 'id', 'createdAt', 'updatedAt', 'occurredAt'])

/** Whether a change affects only the transcript and the times. */
function onlyAppends(change: CallChange): boolean {
  const fields = Object.keys(change).filter((field) => field !== 'status' || change.status === 'completed')
  return fields.every((field) => appendFields.has(field))
}

function appended(document: JsonBytes, turns: string, updatedAt: string): JsonBytes {
  const end = document.length - endChars
  return Buffer.concat([
    document.subarray(0, end),
    Buffer.from(turns),
    document.subarray(end, end + upToUpdatedAtChars),
    Buffer.from(`${updatedAt}"}`),
  ])
}
