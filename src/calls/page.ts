import { sql } from 'drizzle-orm'
import type { ReadDatabase } from '../db/reader.ts'
import { preparedQueries } from '../db/store.ts'

/** A page up to this many characters is joined inside the database and read as one value. */
const joinedCharsMax = 8_388_608
/** A heavier page is read in slices of about this many characters, each when the client wants more. */
const sliceCharsMax = 2_097_152

const msPerDay = 86_400_000

export interface PageRequest {
  limit: number
  offset: number
}

export interface CallPage {
  /** Every call of the project. */
  total: number
  /** The page's documents joined by commas: at once, or in slices that are read when asked for. */
  documents: string | AsyncIterable<string>
}

interface PageRow {
  total: number
  documents: string | null
  heads: string | null
}

// One statement, so that the total and the page are of one moment. The counts per day bring the offset
// within one day's calls: skipping rows of the index would cost 0.1 us for each call of the project.
const queries = preparedQueries((db: ReadDatabase) => {
  const project = sql.placeholder('projectId')
  const page = sql`
    with start as (
      select day, skipped from (
        select day, calls, sum(calls) over (order by day desc) - calls as skipped
        from calls_by_day where project_id = ${project}
      ) where skipped + calls > ${sql.placeholder('offset')} order by day desc limit 1
    ), page as materialized (
      select seq, document_chars from calls
      where project_id = ${project} and created_at < ((select day from start) + 1) * ${sql.raw(`${msPerDay}`)}
      order by created_at desc, id desc
      limit ${sql.placeholder('limit')} offset coalesce(${sql.placeholder('offset')} - (select skipped from start), 0)
    ), weight as materialized (select coalesce(sum(document_chars), 0) as chars from page)
    select
      (select coalesce(sum(calls), 0) from calls_by_day where project_id = ${project}) as total,
      case when (select chars from weight) <= ${sql.raw(`${joinedCharsMax}`)} then (
        select group_concat(document, ',') from (
          select document from page cross join call_documents on call_documents.seq = page.seq
        )
      ) end as documents,
      case when (select chars from weight) > ${sql.raw(`${joinedCharsMax}`)} then (
        select json_group_array(json_array(seq, document_chars)) from page
      ) end as heads`
  const slice = sql`(
    select document from json_each(${sql.placeholder('seqs')}) cross join call_documents on seq = value
  )`
  return {
    page: db
      .select({
        total: sql<number>`total`,
        documents: sql<string | null>`documents`,
        heads: sql<string | null>`heads`,
      })
      .from(sql`(${page})`)
      .prepare(),
    slice: db.select({ documents: sql<string | null>`group_concat(document, ',')` }).from(slice).prepare(),
  }
})

/** A page of a project's calls, newest first. Memory stays bounded whatever the page weighs. */
export async function readPage(db: ReadDatabase, projectId: number, request: PageRequest): Promise<CallPage> {
  const row = (await queries(db).page.get({ projectId, ...request })) as PageRow | undefined
  if (!row) return { total: 0, documents: '' }
  const documents = row.heads ? slices(db, JSON.parse(row.heads)) : (row.documents ?? '')
  return { total: row.total, documents }
}

/** A call deleted meanwhile is left out; one that changed meanwhile is given as it is now. */
async function* slices(db: ReadDatabase, heads: [seq: number, chars: number][]): AsyncGenerator<string> {
  let isFirst = true
  for (const seqs of bySize(heads)) {
    const row = await queries(db).slice.get({ seqs: JSON.stringify(seqs) })
    if (!row?.documents) continue
    yield isFirst ? row.documents : `,${row.documents}`
    isFirst = false
  }
}

function* bySize(heads: [seq: number, chars: number][]): Generator<number[]> {
  let seqs: number[] = []
  let sliceChars = 0
  for (const [seq, chars] of heads) {
    if (seqs.length > 0 && sliceChars + chars > sliceCharsMax) {
      yield seqs
      seqs = []
      sliceChars = 0
    }
    seqs.push(seq)
    sliceChars += chars
  }
  if (seqs.length > 0) yield seqs
}
