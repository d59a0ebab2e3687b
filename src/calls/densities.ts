import { sql } from 'drizzle-orm'
import { preparedQueries, type StoreOf } from '../db/store.ts'
import { type Density, densityOf } from './density.ts'
import { servedDocument } from './parts.ts'
import type { Call, TimelineEntry } from './schemas.ts'

/** Columns of a strip in a list. */
const columns = 48
/** Longer calls have no strip there: parsing them would keep other requests waiting. */
const documentCharsMax = 131_072
/** Characters that are parsed for one answer. */
const answerCharsMax = 1_048_576

/** The strip of each call by its id; null for one that is too long to be drawn in a list. */
export type Densities = Record<string, Density | null>

const isShort = sql.raw(`document_chars + coalesce(octet_length(details), 0) <= ${documentCharsMax}`)

const queries = preparedQueries((db) => ({
  byIds: db
    .select({
      id: sql<string>`calls.id`,
      chars: sql<number>`document_chars + coalesce(octet_length(details), 0)`,
      document: sql<string | null>`case when ${isShort} then ${servedDocument} end`,
      timeline: sql<string | null>`case when ${isShort} then details -> '$.timeline' end`,
    })
    .from(sql`json_each(${sql.placeholder('ids')}) wanted cross join calls
      on calls.project_id = ${sql.placeholder('projectId')} and calls.id = wanted.value
      cross join call_documents on call_documents.seq = calls.seq
      left join call_details on call_details.seq = calls.seq`)
    .prepare(),
}))

/** Who speaks when in each of some calls, for a list of them. Unknown ids have no entry. */
export async function readDensities(
  store: StoreOf,
  projectId: number,
  ids: readonly string[],
): Promise<Densities> {
  const rows = await queries(store(projectId).readAside).byIds.all({ projectId, ids: JSON.stringify(ids) })
  let chars = 0
  const densities = rows.map(({ id, document, timeline, chars: more }): [string, Density | null] => {
    if (document === null || chars + more > answerCharsMax) return [id, null]
    chars += more
    const { transcript, duration }: Call = JSON.parse(document)
    const entries: TimelineEntry[] = timeline === null ? [] : JSON.parse(timeline)
    return [id, densityOf(transcript, entries, duration, columns)]
  })
  return Object.fromEntries(densities)
}
