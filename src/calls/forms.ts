import { type SQL, sql } from 'drizzle-orm'
import type { ReadDatabase } from '../db/reader.ts'
import { preparedQueries } from '../db/store.ts'
import { csvLine } from '../text/csv.ts'
import { escapeLineEnds } from '../text/lines.ts'
import { briefDetails, detailedDocument, servedDetails } from './details.ts'
import type { JsonBytes } from './document.ts'
import { columnsOf, detailCell, isDetailColumn, pickFields, readStart } from './fields.ts'
import { servedDocument, servedDocuments } from './parts.ts'

// Milliseconds are added as whole numbers, because SQLite computes times with fractions in doubles.
const occurredAtField = sql`coalesce(',"occurredAt":"' || strftime('%Y-%m-%dT%H:%M:%S', occurred_at / 1000, 'unixepoch')
  || printf('.%03dZ"', occurred_at % 1000), '')`
const metadataField = sql`coalesce(',"metadata":' || metadata, '')`
const detailsField = sql`coalesce(',"details":' || details, '')`

const queries = preparedQueries((db) => {
  const seqs = sql`json_each(${sql.placeholder('seqs')}) as wanted`
  const documents = sql`${seqs} cross join ${servedDocuments} on documents.seq = wanted.value`
  const documentsAndDetails = sql`${seqs} cross join call_documents on call_documents.seq = wanted.value
    left join call_details on call_details.seq = call_documents.seq`
  const detailed = sql`(select ${detailedDocument} as document from ${documentsAndDetails})`
  const joined = (rows: SQL) =>
    db.select({ text: sql<JsonBytes | null>`cast(group_concat(document, ',') as blob)` }).from(rows).prepare()
  const linesOf = (line: SQL, rows: SQL) =>
    db
      .select({ text: sql<JsonBytes | null>`cast(group_concat(${line}, '') as blob)` })
      .from(rows)
      .prepare()
  const line = sql`document || char(10)`
  return {
    joined: joined(documents),
    joinedWithDetails: joined(detailed),
    lines: linesOf(line, documents),
    linesWithDetails: linesOf(line, detailed),
    importLines: linesOf(
      sql`case when occurred_at is null and has_details is null then document
        else substr(document, 1, length(document) - 1) || ${occurredAtField} || ${metadataField} || ${detailsField} || '}' end || char(10)`,
      sql`(select calls.seq, occurred_at, metadata, details, call_details.seq as has_details, ${servedDocument} as document from ${seqs}
        cross join calls on calls.seq = wanted.value cross join call_documents on call_documents.seq = calls.seq
        left join call_details on call_details.seq = calls.seq)`,
    ),
    documents: db
      .select({ document: sql<string>`document`, details: sql<null>`null` })
      .from(documents)
      .orderBy(sql`wanted.key`)
      .prepare(),
    documentsWithDetails: db
      .select({ document: servedDocument, details: sql<string>`${servedDetails}` })
      .from(documentsAndDetails)
      .orderBy(sql`wanted.key`)
      .prepare(),
    starts: db
      .select({
        start: sql<string>`substr(document, 1, instr(document, ',"callAnalysis":') - 1)`,
        createdAt: sql<number>`created_at`,
        updatedAt: sql<number>`updated_at`,
        details: sql<string | null>`case when ${sql.placeholder('withDetails')} then (
          select json_array(${briefDetails}, metadata) from call_details where call_details.seq = calls.seq) end`,
      })
      .from(sql`${seqs} cross join calls on calls.seq = wanted.value
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

/** Documents joined by commas. */
export function documentsOf({ fields, isDetailed }: CallParts): CallForm {
  const read: CallForm['read'] = async (db, seqs) => {
    if (fields) return (await readPicked(db, seqs, fields, isDetailed)).join(',')
    const { joined, joinedWithDetails } = queries(db)
    return (await (isDetailed ? joinedWithDetails : joined).get({ seqs }))?.text ?? ''
  }
  return { read, isDetailed }
}

/** One document per line. */
export function linesOf({ fields, isDetailed }: CallParts): CallForm {
  const read: CallForm['read'] = async (db, seqs) => {
    if (fields) {
      const picked = await readPicked(db, seqs, fields, isDetailed)
      return escapeLineEnds(picked.map((document) => `${document}\n`).join(''))
    }
    const { lines, linesWithDetails } = queries(db)
    return escapeLineEnds((await (isDetailed ? linesWithDetails : lines).get({ seqs }))?.text ?? '')
  }
  return { read, isDetailed }
}

/** Lines that also have `occurredAt`, `metadata` and `details`, so that importing them loses nothing. */
export const asImportLines: CallForm = {
  read: async (db, seqs) => escapeLineEnds((await queries(db).importLines.get({ seqs }))?.text ?? ''),
  isDetailed: true,
}

async function readPicked(
  db: ReadDatabase,
  seqs: string,
  fields: ReadonlySet<string>,
  isDetailed: boolean,
): Promise<string[]> {
  const { documents, documentsWithDetails } = queries(db)
  const rows = await (isDetailed ? documentsWithDetails : documents).all({ seqs })
  return rows.map(({ document, details }) => {
    const picked = pickFields(document, fields)
    return details === null ? picked : `${picked.slice(0, -1)},"details":${details}}`
  })
}

/** Lines of CSV; `head` is the header line. */
export function csvOf({ fields, isDetailed: isWhole }: CallParts): { form: CallForm; head: string } {
  const columns = columnsOf(fields, isWhole)
  const isDetailed = columns.some(isDetailColumn)
  const read: CallForm['read'] = async (db, seqs) => {
    const rows = await queries(db).starts.all({ seqs, withDetails: isDetailed ? 1 : 0 })
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
  const times = { createdAt: new Date(createdAt).toISOString(), updatedAt: new Date(updatedAt).toISOString() }
  const call: Record<string, string | number | boolean | null> = { ...readStart(start), ...times }
  const [details, metadata] = JSON.parse(texts ?? '[]').map((text: string | null) =>
    JSON.parse(text ?? 'null'),
  )
  const known = { ...details, metadata }
  return columns.map((column) =>
    isDetailColumn(column) ? detailCell(known, column) : (call[column] ?? null),
  )
}
