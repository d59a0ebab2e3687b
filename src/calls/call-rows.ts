import { and, eq, type SQL, sql } from 'drizzle-orm'
import type { ReadDatabase } from '../db/reader.ts'
import { callDocuments, calls } from '../db/schema.ts'
import { listedColumns } from './call-head.ts'
import { readSummary } from './document.ts'
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
  /** Or its start. */
  document: string
}

const wholeDocument = sql<string>`${callDocuments.document}`
const documentStart = sql<string>`substr(${callDocuments.document}, 1, ${documentStartChars})`

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
  const heads = await readHeads(db, projectId, seqs, documentStart)
  if (!query) return { rows: heads.map((head) => toRow(head, null)), end: seqs.length }
  const end = endOfPage(seqs, heads)
  const shown = await readHeads(db, projectId, seqs.slice(0, end), wholeDocument)
  return { rows: shown.map((head) => toRow(head, findMatch(query, JSON.parse(head.document)))), end }
}

/** How many of the calls a page holds whose documents are read as a whole: one, at least. */
function endOfPage(seqs: readonly number[], heads: readonly HeadRow[]): number {
  let chars = 0
  const first = heads.find(({ chars: more }, at) => {
    chars += more
    return at > 0 && chars > matchedCharsMax
  })
  return first ? seqs.indexOf(first.seq) : seqs.length
}

async function readHeads(
  db: ReadDatabase,
  projectId: number,
  seqs: readonly number[],
  document: SQL<string>,
): Promise<HeadRow[]> {
  return await db
    .select({ ...listedColumns, seq: calls.seq, chars: calls.documentChars, document })
    .from(sql`json_each(${JSON.stringify(seqs)}) as wanted`)
    .crossJoin(calls)
    .crossJoin(callDocuments)
    .where(
      and(sql`${calls.seq} = wanted.value`, eq(calls.projectId, projectId), eq(callDocuments.seq, calls.seq)),
    )
    .orderBy(sql`wanted.key`)
}

function toRow({ seq: _, chars: __, document, ...shown }: HeadRow, match: CallRow['match']): CallRow {
  return {
    ...shown,
    createdAt: new Date(shown.createdAt).toISOString(),
    updatedAt: new Date(shown.updatedAt).toISOString(),
    summary: readSummary(document),
    match,
  }
}
