import { type SQL, sql } from 'drizzle-orm'
import type { ReadDatabase } from '../db/reader.ts'
import { preparedQueries } from '../db/store.ts'
import { csvLine } from '../text/csv.ts'
import type { JsonBytes } from './document.ts'
import { type CallColumn, type CallField, callFields, isColumn, pickFields, readStart } from './fields.ts'
import { servedDocument, servedDocuments } from './parts.ts'

// Milliseconds are added as whole numbers, because SQLite computes times with fractions in doubles.
const occurredAtField = sql`coalesce(',"occurredAt":"' || strftime('%Y-%m-%dT%H:%M:%S', occurred_at / 1000, 'unixepoch')
  || printf('.%03dZ"', occurred_at % 1000), '')`
const metadataField = sql`coalesce(',"metadata":' || metadata, '')`
const detailsField = sql`coalesce(',"details":' || details, '')`

const queries = preparedQueries((db) => {
  const seqs = sql`json_each(${sql.placeholder('seqs')}) as wanted`
  const documents = sql`${seqs} cross join ${servedDocuments} on documents.seq = wanted.value`
  const linesOf = (line: SQL, rows: SQL) =>
    db
      .select({ lines: sql<JsonBytes | null>`cast(group_concat(${line}, '') as blob)` })
      .from(rows)
      .prepare()
  return {
    documentsJoined: db
      .select({ documents: sql<JsonBytes | null>`cast(group_concat(document, ',') as blob)` })
      .from(documents)
      .prepare(),
    lines: linesOf(sql`document || char(10)`, documents),
    importLines: linesOf(
      sql`case when occurred_at is null and has_details is null then document
        else substr(document, 1, length(document) - 1) || ${occurredAtField} || ${metadataField} || ${detailsField} || '}' end || char(10)`,
      sql`(select calls.seq, occurred_at, metadata, details, call_details.seq as has_details, ${servedDocument} as document from ${seqs}
        cross join calls on calls.seq = wanted.value cross join call_documents on call_documents.seq = calls.seq
        left join call_details on call_details.seq = calls.seq)`,
    ),
    documents: db
      .select({ document: sql<string>`document` })
      .from(documents)
      .orderBy(sql`wanted.key`)
      .prepare(),
    starts: db
      .select({
        start: sql<string>`substr(document, 1, instr(document, ',"callAnalysis":') - 1)`,
        createdAt: sql<number>`created_at`,
        updatedAt: sql<number>`updated_at`,
      })
      .from(sql`${seqs} cross join calls on calls.seq = wanted.value
        cross join call_documents on call_documents.seq = calls.seq`)
      .orderBy(sql`wanted.key`)
      .prepare(),
  }
})

/** How calls are written in an answer. Reads calls in this order, without those deleted meanwhile. */
export type CallForm = (db: ReadDatabase, seqs: string) => Promise<string | JsonBytes>

/** Documents joined by commas. */
export const asDocuments: CallForm = async (db, seqs) =>
  (await queries(db).documentsJoined.get({ seqs }))?.documents ?? ''

/** One document per line. */
export const asLines: CallForm = async (db, seqs) => (await queries(db).lines.get({ seqs }))?.lines ?? ''

/** Lines that also have `occurredAt`, `metadata` and `details`, so that importing them loses nothing. */
export const asImportLines: CallForm = async (db, seqs) =>
  (await queries(db).importLines.get({ seqs }))?.lines ?? ''

/** One document per line, with some of its fields. */
export function asPickedLines(fields: ReadonlySet<CallField>): CallForm {
  return async (db, seqs) => (await readPicked(db, seqs, fields)).map((document) => `${document}\n`).join('')
}

/** Documents with some of the fields, joined by commas. */
export function asPicked(fields: ReadonlySet<CallField>): CallForm {
  return async (db, seqs) => (await readPicked(db, seqs, fields)).join(',')
}

async function readPicked(db: ReadDatabase, seqs: string, fields: ReadonlySet<CallField>): Promise<string[]> {
  const rows = await queries(db).documents.all({ seqs })
  return rows.map(({ document }) => pickFields(document, fields))
}

/** Lines of CSV; `head` is the header line. @param fields the columns, all by default */
export function csvOf(fields: ReadonlySet<CallField> | undefined): { form: CallForm; head: string } {
  const columns = callFields.filter(isColumn).filter((field) => fields?.has(field) ?? true)
  const form: CallForm = async (db, seqs) => {
    const rows = await queries(db).starts.all({ seqs })
    return rows.map((row) => csvLine(cellsOf(row, columns))).join('')
  }
  return { form, head: csvLine(columns) }
}

function cellsOf(
  { start, createdAt, updatedAt }: { start: string; createdAt: number; updatedAt: number },
  columns: readonly CallColumn[],
) {
  const times = { createdAt: new Date(createdAt).toISOString(), updatedAt: new Date(updatedAt).toISOString() }
  const call = { ...readStart(start), ...times }
  return columns.map((column) => call[column])
}
