import { type SQL, sql } from 'drizzle-orm'
import type { ReadDatabase } from '../../db/reader.ts'
import { preparedQueries } from '../../db/store.ts'
import { csvLine } from '../../text/csv.ts'
import { escapeLineEnds } from '../../text/lines.ts'
import { briefDetails, currentDetails, detailsBeside, documentInForm, emptyDetails } from '../details.ts'
import type { JsonBytes } from '../document.ts'
import { servedDocument } from '../document.ts'
import { columnsOf, detailCell, isDetailColumn, pickFields, readStart } from './fields.ts'

// Milliseconds are added as whole numbers, because SQLite computes times with fractions in doubles.
const occurredAtField = sql`coalesce(',"occurredAt":"' || strftime('%Y-%m-%dT%H:%M:%S', occurred_at / 1000, 'unixepoch')
  || printf('.%03dZ"', occurred_at % 1000), '')`
const metadataField = sql`coalesce(',"metadata":' || metadata, '')`
const detailsField = sql`coalesce(',"details":' || ${currentDetails}, '')`

const queries = preparedQueries((db) => {
  const seqRows = sql`json_each(${sql.placeholder('seqs')}) as wanted`
  const documents = sql`${seqRows} cross join call_documents on call_documents.seq = wanted.value`
  /**
   * @param rows with a `document` each. Inside `group_concat`, its expression would make SQLite copy the joined text again.
   * @param end follows the last one. It makes SQLite copy the joined text again, which takes as long as to join it.
   */
  const joined = (rows: SQL, end = sql``) =>
    db
      .select({
        text: sql<JsonBytes | null>`cast(group_concat(document, ${sql.placeholder('separator')}) ${end} as blob)`,
      })
      .from(rows)
      .prepare()
  const inForm = sql`(select ${documentInForm} as document from ${documents})`
  const withEnd = sql`|| ${sql.placeholder('end')}`
  return {
    joined: joined(inForm),
    joinedWithEnd: joined(inForm, withEnd),
    joinedForImport: joined(
      sql`(
      select case when occurred_at is null and has_details is null then document
        else substr(document, 1, length(document) - 1) || ${occurredAtField} || ${metadataField} || ${detailsField} || '}' end as document
      from (select occurred_at, metadata, details, call_details.seq as has_details, ${servedDocument} as document from ${seqRows}
        cross join calls on calls.seq = wanted.value cross join call_documents on call_documents.seq = calls.seq
        left join call_details on call_details.seq = calls.seq))`,
      withEnd,
    ),
    documents: db
      .select({
        document: servedDocument,
        details: sql<string | null>`case when ${sql.placeholder('isDetailed')} then ${detailsBeside} end`,
      })
      .from(documents)
      .orderBy(sql`wanted.key`)
      .prepare(),
    starts: db
      .select({
        start: sql<string>`substr(document, 1, instr(document, ',"callAnalysis":') - 1)`,
        createdAt: sql<number>`created_at`,
        updatedAt: sql<number>`updated_at`,
        details: sql<string | null>`case when ${sql.placeholder('isDetailed')} then (
          select json_array(${briefDetails}, metadata) from call_details where call_details.seq = calls.seq) end`,
      })
      .from(sql`${seqRows} cross join calls on calls.seq = wanted.value
        cross join call_documents on call_documents.seq = calls.seq`)
      .orderBy(sql`wanted.key`)
      .prepare(),
  }
})

/** How calls are written in an answer. */
export interface CallForm {
  /** Reads calls in this order, without those deleted meanwhile. */
  read: (db: ReadDatabase, seqs: string) => Promise<string | JsonBytes>
  /** Whether their details are read, too. */
  isDetailed: boolean
}

/** Which parts of each call to write. */
export interface CallParts {
  /** All by default. */
  fields?: ReadonlySet<string> | undefined
  /** Whether the details follow as the last member. */
  isDetailed: boolean
}

/** Joins documents by commas. */
export function documentsOf({ fields, isDetailed }: CallParts, separator = ',', end = ''): CallForm {
  const read: CallForm['read'] = async (db, seqs) => {
    const parameters = { seqs, isDetailed: Number(isDetailed) }
    const { joined, joinedWithEnd, documents } = queries(db)
    const whole = end === '' ? joined : joinedWithEnd
    if (!fields) return (await whole.get({ ...parameters, separator, end }))?.text ?? ''
    const picked = (await documents.all(parameters)).map(({ document, details }) => {
      const some = pickFields(document, fields)
      return details === null ? some : `${some.slice(0, -1)},"details":${details}}`
    })
    return picked.length > 0 ? picked.join(separator) + end : ''
  }
  return { read, isDetailed }
}

/** Writes one document a line. */
export function linesOf(parts: CallParts): CallForm {
  const { read, isDetailed } = documentsOf(parts, '\n', '\n')
  return { read: async (db, seqs) => escapeLineEnds(await read(db, seqs)), isDetailed }
}

/** Lines that also have `occurredAt`, `metadata` and `details`, so that importing them loses nothing. */
export const asImportLines: CallForm = {
  async read(db, seqs) {
    const row = await queries(db).joinedForImport.get({ seqs, separator: '\n', end: '\n' })
    return escapeLineEnds(row?.text ?? '')
  },
  isDetailed: true,
}

/** Lines of CSV; `head` is the header line. */
export function csvOf({ fields, isDetailed: isWhole }: CallParts): { form: CallForm; head: string } {
  const columns = columnsOf(fields, isWhole)
  const isDetailed = columns.some(isDetailColumn)
  const read: CallForm['read'] = async (db, seqs) => {
    const rows = await queries(db).starts.all({ seqs, isDetailed: Number(isDetailed) })
    return rows.map((row) => csvLine(cellsOf(row, columns))).join('')
  }
  return { form: { read, isDetailed }, head: csvLine(columns) }
}

interface StartRow {
  start: string
  createdAt: number
  updatedAt: number
  /** JSON: the texts of the details, without those that are long, and of the metadata. */
  details: string | null
}

function cellsOf({ start, createdAt, updatedAt, details: texts }: StartRow, columns: readonly string[]) {
  const read: (string | null)[] = JSON.parse(texts ?? '[]')
  const [details, metadata] = read.map((text) => JSON.parse(text ?? 'null'))
  const allDetails = { sound: emptyDetails.sound, ...details, metadata }
  const call: ReturnType<typeof readStart> = {
    ...readStart(start),
    createdAt: new Date(createdAt).toISOString(),
    updatedAt: new Date(updatedAt).toISOString(),
  }
  return columns.map((column) =>
    isDetailColumn(column) ? detailCell(allDetails, column) : (call[column] ?? null),
  )
}
