import { and, eq, sql } from 'drizzle-orm'
import type { ReadDatabase } from '../../db/reader.ts'
import { callDocuments, calls } from '../../db/schema.ts'
import { servedDocument } from '../document.ts'

/** Enough for the first turns of most calls. */
const startChars = 8_000
const shownCharsMin = 24
const shownCharsMax = 200
const text = '(?:[^"\\\\]|\\\\u.{4}|\\\\[^u])*'
const firstOfCaller = new RegExp(
  `,"transcript":\\[(?:\\{"role":"assistant","content":"${text}"\\},)*\\{"role":"user","content":"(${text})`,
  's',
)

/** What the caller says first in each call, a sentence or two. Calls without a caller's turn are absent. */
export async function readFirstWords(
  db: ReadDatabase,
  projectId: number,
  seqs: readonly number[],
): Promise<Map<number, string>> {
  if (seqs.length === 0) return new Map()
  const rows = await db
    .select({ seq: calls.seq, start: sql<string>`substr(${servedDocument}, 1, ${startChars})` })
    .from(sql`json_each(${JSON.stringify(seqs)}) as wanted`)
    .crossJoin(calls)
    .crossJoin(callDocuments)
    .where(
      and(sql`${calls.seq} = wanted.value`, eq(calls.projectId, projectId), eq(callDocuments.seq, calls.seq)),
    )
  return new Map(
    rows.flatMap(({ seq, start }) => {
      const words = firstSentences(start)
      return words ? [[seq, words] as const] : []
    }),
  )
}

/** From the start of a document. */
export function firstSentences(documentStart: string): string | null {
  const said = firstOfCaller.exec(documentStart)?.[1]
  if (said === undefined) return null
  const content: string = JSON.parse(`"${said}"`)
  let shown = ''
  for (const sentence of content.trim().split(/(?<=[.!?。？！])\s+/u)) {
    if (shown.length >= shownCharsMin) break
    shown += (shown && ' ') + sentence
  }
  return shown.slice(0, shownCharsMax).toWellFormed() || null
}
