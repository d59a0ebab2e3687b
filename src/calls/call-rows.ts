import { and, eq, type SQL, sql } from 'drizzle-orm'
import type { ReadDatabase } from '../db/reader.ts'
import { callDocuments, calls } from '../db/schema.ts'
import { listedColumns } from './call-head.ts'
import { readSummary } from './document.ts'
import { servedDocument } from './parts.ts'
import { findMatch, type TextMatch } from './text-match.ts'
import type { WordQuery } from './word-query.ts'

/** The documents of a page of search results have at most this many characters; heavier pages are shorter. */
const matchedCharsMax = 500_000
/** Enough to hold the start of the summary, however it is escaped. */
const documentStartChars = 2_400

type Listed = { [Column in keyof typeof listedColumns]: (typeof calls.$inferSelect)[Column] }

/** What a list shows of a call. */
export interface CallRow extends Omit<Listed, 'createdAt' | 'updatedAt'> {
  createdAt: string
  updatedAt: string
  /** At most 300 characters. */
  summary: string | null
  /** Where the words were found; null when none were searched for. */
  match: TextMatch | null
}

interface HeadRow extends Listed {
  seq: number
  chars: number
  /** Or its start. */
  document: string
}

/** Its start is the same, whatever was appended since. */
const documentStart = sql<string>`substr(${callDocuments.document}, 1, ${documentStartChars})`

/**
 * What a list shows of the calls, in their order, without those that were deleted meanwhile.
 * @param query what to find in them
 * @returns `end`: how many of `seqs` the page covers
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
  const shown = await readHeads(db, projectId, seqs.slice(0, end), servedDocument)
  return { rows: shown.map((head) => toRow(head, findMatch(query, JSON.parse(head.document)))), end }
}

/** How many calls fit on a page whose whole documents are read: at least one. */
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
