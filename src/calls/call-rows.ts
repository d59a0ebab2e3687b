import { and, eq, type SQL, sql } from 'drizzle-orm'
import type { ReadDatabase } from '../db/reader.ts'
import { callDocuments, calls } from '../db/schema.ts'
import { listedColumns } from './call-head.ts'
import { readSummary } from './document.ts'
import type { Call } from './schemas.ts'
import { findMatch, type TextMatch } from './text-match.ts'
import type { WordQuery } from './word-query.ts'

/** Characters of documents that a page with texts found in them may take; one that would take more is shorter. */
const matchedCharsMax = 500_000
/** So much of a document holds what is before the summary, and enough of that, however it is escaped. */
const documentStartChars = 2_400

type Listed = { [Column in keyof typeof listedColumns]: (typeof calls.$inferSelect)[Column] }

/** What a list shows of a call. */
export interface CallRow extends Omit<Listed, 'createdAt' | 'updatedAt'> {
  createdAt: string
  updatedAt: string
  /** At most 300 characters. */
  summary: string | null
  /** Where the text that was searched for is; null when none was. */
  match: TextMatch | null
}

interface HeadRow extends Listed {
  seq: number
  chars: number
  documentStart: string
}

/**
 * What a list shows of the calls, in their order, without those that were deleted meanwhile.
 * @param query what to find in them
 * @returns also after how many of them the page ends
 */
export async function readRows(
  db: ReadDatabase,
  projectId: number,
  seqs: readonly number[],
  query: WordQuery | null,
): Promise<{ rows: CallRow[]; end: number }> {
  const heads = await readHeads(db, projectId, seqs)
  const end = query ? endOfPage(seqs, heads) : seqs.length
  const shown = seqs.slice(0, end).flatMap((seq) => heads.get(seq) ?? [])
  const documents = query ? await readDocuments(db, projectId, seqs.slice(0, end)) : null
  const rows = shown.map((head) => {
    const document = documents?.get(head.seq)
    return toRow(head, query && document ? findMatch(query, parseCall(document)) : null)
  })
  return { rows, end }
}

/** How many of the calls a page holds whose documents are read as a whole: one, at least. */
function endOfPage(seqs: readonly number[], heads: Map<number, HeadRow>): number {
  let chars = 0
  const tooMuch = seqs.findIndex((seq, at) => {
    chars += heads.get(seq)?.chars ?? 0
    return at > 0 && chars > matchedCharsMax
  })
  return tooMuch < 0 ? seqs.length : tooMuch
}

async function readHeads(
  db: ReadDatabase,
  projectId: number,
  seqs: readonly number[],
): Promise<Map<number, HeadRow>> {
  const rows: HeadRow[] = await db
    .select({
      ...listedColumns,
      seq: calls.seq,
      chars: calls.documentChars,
      documentStart: sql<string>`substr(${callDocuments.document}, 1, ${documentStartChars})`,
    })
    .from(eachOf(seqs))
    .crossJoin(calls)
    .crossJoin(callDocuments)
    .where(isOneOfThem(projectId))
  return new Map(rows.map((row) => [row.seq, row]))
}

async function readDocuments(
  db: ReadDatabase,
  projectId: number,
  seqs: readonly number[],
): Promise<Map<number, string>> {
  const rows = await db
    .select({ seq: calls.seq, document: callDocuments.document })
    .from(eachOf(seqs))
    .crossJoin(calls)
    .crossJoin(callDocuments)
    .where(isOneOfThem(projectId))
  return new Map(rows.map(({ seq, document }) => [seq, document]))
}

function eachOf(seqs: readonly number[]): SQL {
  return sql`json_each(${JSON.stringify(seqs)})`
}

function isOneOfThem(projectId: number): SQL | undefined {
  return and(sql`${calls.seq} = value`, eq(calls.projectId, projectId), eq(callDocuments.seq, calls.seq))
}

function parseCall(document: string): Call {
  return JSON.parse(document)
}

function toRow(head: HeadRow, match: CallRow['match']): CallRow {
  const { seq: _, chars: __, documentStart, ...shown } = head
  return {
    ...shown,
    createdAt: new Date(head.createdAt).toISOString(),
    updatedAt: new Date(head.updatedAt).toISOString(),
    summary: readSummary(documentStart),
    match,
  }
}
