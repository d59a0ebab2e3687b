import { type SQL, sql } from 'drizzle-orm'
import type { ReadDatabase } from '../db/reader.ts'
import { readSummary } from './document.ts'
import type { Call } from './schemas.ts'
import { findMatch, type TextMatch } from './text-match.ts'
import type { WordQuery } from './word-query.ts'

/** Characters of documents that a page with texts found in them may take; one that would take more is shorter. */
const matchedCharsMax = 500_000
/** So much of a document holds what is before the summary, and enough of that, however it is escaped. */
const documentStartChars = 2_400

export interface CallRow {
  id: string
  createdAt: string
  updatedAt: string
  status: 'live' | 'completed'
  duration: number
  callerNumber: string | null
  calledNumber: string | null
  evaluation: string | null
  isEngaged: boolean
  endedReason: string | null
  /** At most 300 characters. */
  summary: string | null
  /** Where the text searched for is; null without one. */
  match: TextMatch | null
}

interface HeadRow {
  seq: number
  id: string
  createdAt: number
  updatedAt: number
  status: CallRow['status']
  duration: number
  callerNumber: string | null
  calledNumber: string | null
  evaluation: string | null
  isEngaged: number
  endedReason: string | null
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
      seq: sql<number>`calls.seq`,
      id: sql<string>`calls.id`,
      createdAt: sql<number>`created_at`,
      updatedAt: sql<number>`updated_at`,
      status: sql<CallRow['status']>`status`,
      duration: sql<number>`duration`,
      callerNumber: sql<string | null>`caller_number`,
      calledNumber: sql<string | null>`called_number`,
      evaluation: sql<string | null>`evaluation`,
      isEngaged: sql<number>`is_engaged`,
      endedReason: sql<string | null>`ended_reason`,
      chars: sql<number>`document_chars`,
      documentStart: sql<string>`substr(document, 1, ${sql.raw(String(documentStartChars))})`,
    })
    .from(fromSeqs(projectId, seqs))
  return new Map(rows.map((row) => [row.seq, row]))
}

async function readDocuments(
  db: ReadDatabase,
  projectId: number,
  seqs: readonly number[],
): Promise<Map<number, string>> {
  const rows = await db
    .select({ seq: sql<number>`calls.seq`, document: sql<string>`document` })
    .from(fromSeqs(projectId, seqs))
  return new Map(rows.map(({ seq, document }) => [seq, document]))
}

function fromSeqs(projectId: number, seqs: readonly number[]): SQL {
  return sql`json_each(${JSON.stringify(seqs)}) cross join calls on calls.seq = value and calls.project_id = ${projectId}
    cross join call_documents on call_documents.seq = calls.seq`
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
    isEngaged: head.isEngaged === 1,
    summary: readSummary(documentStart),
    match,
  }
}
