import { type SQL, sql } from 'drizzle-orm'
import type { ReadDatabase } from '../../db/reader.ts'
import type { CallQuery } from './call-query.ts'
import type { FoundPlace } from './find-calls.ts'
import type { FoundPages } from './found-pages.ts'
import type { Place } from './place.ts'

/** No index has these values, so the newest calls that match are sorted. */
const sortedMax = 10_000
const sorted = ['cost', 'latency', 'criteria'] as const

/** An order of the console's list by a value that no index has. */
export interface ValueOrder {
  by: (typeof sorted)[number]
  isDescending: boolean
}

/** The value order of a query, such as `-cost`; undefined for any other order. */
export function readValueOrder({ order }: CallQuery): ValueOrder | undefined {
  const text = [order ?? []].flat().at(-1) ?? ''
  const by = sorted.find((one) => text === one || text === `-${one}`)
  return by && { by, isDescending: text.startsWith('-') }
}

/** How many criteria of a call passed, and how many were judged. */
export const criteriaPassed = criteriaWith(sql`and value like '%"pass"]'`)
export const criteriaJudged = criteriaWith(sql``)

function criteriaWith(more: SQL): SQL<number> {
  return sql<number>`(select count(*) from json_each(calls.value_list) where value like '["criterion.%' ${more})`
}

const values: Record<ValueOrder['by'], SQL> = {
  cost: sql`calls.cost_usd`,
  latency: sql`calls.latency_ms`,
  criteria: sql`cast(${criteriaPassed} as real) / nullif(${criteriaJudged}, 0)`,
}

/** What a call is sorted by: without a value it comes last. */
function valueIn({ by, isDescending }: ValueOrder): SQL<number> {
  return sql<number>`coalesce(${values[by]}, ${sql.raw(isDescending ? '-1' : '9e99')})`
}

/**
 * A page of the newest calls that match, in the order of a value; calls without one come last. A place has the value in
 * place of a duration.
 */
export async function sortedPage(
  db: ReadDatabase,
  pages: FoundPages,
  { by, isDescending }: ValueOrder,
  { limit, after, isReversed = false }: { limit: number; after?: Place | undefined; isReversed?: boolean },
): Promise<{ places: FoundPlace[]; end: Place | null }> {
  const seqs = JSON.stringify(await pages.firstSeqs(sortedMax))
  const [direction, isNext] = isDescending !== isReversed ? [sql`desc`, sql`<`] : [sql`asc`, sql`>`]
  const behind = after
    ? sql`where (duration, createdAt, id) ${isNext} (${after.duration ?? 0}, ${after.createdAt}, ${after.id})`
    : sql``
  const found: FoundPlace[] = await db
    .select({
      seq: sql<number>`seq`,
      createdAt: sql<number>`createdAt`,
      id: sql<string>`id`,
      chars: sql<number>`chars`,
      duration: sql<number>`duration`,
    })
    .from(sql`(
      select calls.seq as seq, created_at as createdAt, calls.id as id, document_chars as chars,
        ${valueIn({ by, isDescending })} as duration
      from json_each(${seqs}) as wanted cross join calls on calls.seq = wanted.value) ${behind}
      order by duration ${direction}, createdAt ${direction}, id ${direction} limit ${limit + 1}`)
  const places = found.slice(0, limit)
  return { places, end: found.length > limit ? (places.at(-1) ?? null) : null }
}

/** The place of a call in such an order; undefined for an unknown call. */
export async function placeIn(
  db: ReadDatabase,
  projectId: number,
  id: string,
  order: ValueOrder,
): Promise<Place | undefined> {
  const [place] = await db
    .select({
      createdAt: sql<number>`created_at`,
      id: sql<string>`id`,
      duration: valueIn(order),
    })
    .from(sql`calls`)
    .where(sql`project_id = ${projectId} and calls.id = ${id}`)
  return place
}
