import { and, eq, lte, sql } from 'drizzle-orm'
import type { ReadDatabase } from '../../db/reader.ts'
import { callDocuments, calls } from '../../db/schema.ts'
import { servedDocument } from '../document.ts'
import type { Call, CallDetails } from '../schemas.ts'
import { type Density, densityOf } from './density.ts'

const columns = 36
/** Longer calls have no density in a list, to keep pages fast. */
const charsMax = 20_000

/** The density of each of these calls, for a list. */
export async function readDensities(
  db: ReadDatabase,
  projectId: number,
  seqs: readonly number[],
): Promise<Map<number, Density>> {
  const rows = await db
    .select({
      seq: calls.seq,
      document: servedDocument,
      details: sql<string | null>`(select details from call_details where call_details.seq = calls.seq
        and octet_length(details) <= ${charsMax})`,
    })
    .from(sql`json_each(${JSON.stringify(seqs)}) as wanted`)
    .crossJoin(calls)
    .crossJoin(callDocuments)
    .where(
      and(
        sql`${calls.seq} = wanted.value`,
        eq(calls.projectId, projectId),
        eq(callDocuments.seq, calls.seq),
        lte(calls.documentChars, charsMax),
      ),
    )
  return new Map(
    rows.flatMap(({ seq, document, details }) => {
      const { transcript, duration }: Call = JSON.parse(document)
      if (transcript.length === 0) return []
      const timeline: CallDetails['timeline'] = details === null ? [] : JSON.parse(details).timeline
      return [[seq, densityOf(transcript, timeline, duration, columns)] as const]
    }),
  )
}
