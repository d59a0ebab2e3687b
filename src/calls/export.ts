import { sql } from 'drizzle-orm'
import type { ReadDatabase } from '../db/reader.ts'
import { inSlices } from '../db/slices.ts'
import { preparedQueries } from '../db/store.ts'
import { detailsBytes } from './details.ts'
import { servedDocument } from './parts.ts'

/** Heads read at once; their documents follow in slices. */
const headsMax = 1_000
/** Documents are joined into lines up to about this many characters at once. */
const sliceCharsMax = 262_144

// Whole numbers: SQLite's own times with milliseconds go through a double.
const occurredAtField = sql`coalesce(',"occurredAt":"' || strftime('%Y-%m-%dT%H:%M:%S', occurred_at / 1000, 'unixepoch')
  || printf('.%03dZ"', occurred_at % 1000), '')`
const metadataField = sql`coalesce(',"metadata":' || metadata, '')`
const detailsField = sql`coalesce(',"details":' || details, '')`

const queries = preparedQueries((db) => ({
  heads: db
    .select({
      seq: sql<number>`calls.seq`,
      createdAt: sql<number>`created_at`,
      id: sql<string>`id`,
      chars: sql<number>`document_chars + ${detailsBytes}`,
    })
    .from(sql`calls left join call_details on call_details.seq = calls.seq`)
    .where(
      sql`project_id = ${sql.placeholder('projectId')}
        and (created_at, id) > (${sql.placeholder('createdAt')}, ${sql.placeholder('id')})`,
    )
    .orderBy(sql`created_at`, sql`id`)
    .limit(headsMax)
    .prepare(),
  lines: db
    .select({ lines: sql<string | null>`group_concat(line || char(10), '')` })
    .from(sql`(
      select case when occurred_at is null and call_details.seq is null then served
        else substr(served, 1, length(served) - 1) || ${occurredAtField} || ${metadataField} || ${detailsField} || '}' end as line
      from (select calls.seq, occurred_at, ${servedDocument} as served
        from json_each(${sql.placeholder('seqs')})
        cross join calls on calls.seq = value
        cross join call_documents on call_documents.seq = calls.seq) as documents
      left join call_details on call_details.seq = documents.seq)`)
    .prepare(),
}))

/**
 * Every call of the project as lines of JSON, oldest first. They include `occurredAt`, `metadata` and `details`, so that importing them loses nothing. Paged by time and id, so that concurrent changes hide and repeat nothing.
 */
export async function* exportCalls(db: ReadDatabase, projectId: number): AsyncGenerator<string> {
  let last = { createdAt: -1, id: '' }
  for (;;) {
    const { createdAt, id } = last
    const heads = await queries(db).heads.all({ projectId, createdAt, id })
    const end = heads.at(-1)
    if (!end) return
    const sizes = heads.map(({ seq, chars }) => [seq, chars] as const)
    for (const seqs of inSlices(sizes, sliceCharsMax)) {
      const row = await queries(db).lines.get({ seqs: JSON.stringify(seqs) })
      if (row?.lines) yield row.lines
    }
    last = end
  }
}
