import { type SQL, sql } from 'drizzle-orm'
import type { ReadDatabase } from '../../db/reader.ts'
import { readRows } from '../../db/store.ts'
import type { CallQuery } from './call-query.ts'
import type { FoundPlace } from './find-calls.ts'
import type { FoundPages } from './found-pages.ts'
import type { Place } from './place.ts'
import { slicesOf } from './scan.ts'
import { toStatement } from './statement.ts'

/** No index is in the order of these values, so all calls that match are looked through, in slices of some milliseconds. */
const sorted = ['duration', 'cost', 'latency', 'criteria'] as const
const sliceCalls = 16_000
/** Of the calls that match, so many of the newest are sorted by criteria. */
const byCriteriaMax = 10_000

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
  duration: sql`calls.duration`,
  cost: sql`calls.cost_usd`,
  latency: sql`calls.latency_ms`,
  criteria: sql`cast(${criteriaPassed} as real) / nullif(${criteriaJudged}, 0)`,
}

/** What a call is sorted by: without a value it comes last. */
function valueIn({ by, isDescending }: ValueOrder): SQL<number> {
  return sql<number>`coalesce(${values[by]}, ${sql.raw(isDescending ? '-1' : '9e99')})`
}

/** A page of the calls that match, in the order of a value; calls without one come last. */
export async function sortedPage(
  db: ReadDatabase,
  pages: FoundPages,
  order: ValueOrder,
  { limit, after, isReversed = false }: { limit: number; after?: Place | undefined; isReversed?: boolean },
): Promise<{ places: FoundPlace[]; end: Place | null }> {
  const isDescending = order.isDescending !== isReversed
  const [direction, isNext] = isDescending ? ['desc', '<'] : ['asc', '>']
  const value = toStatement(valueIn(order))
  const read = readRows(db)
  let found: (FoundPlace & { value: number })[] = []
  const isFirst = (a: Required<Place>, b: Required<Place>) =>
    (a.value - b.value || a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1)) < 0 !== isDescending ? -1 : 1
  // Its criteria take longer to read than all else of a call.
  const scan = order.by === 'criteria' ? await pages.scanOfFirst(byCriteriaMax) : await pages.scan()
  for await (const slice of slicesOf(scan, read, sliceCalls)) {
    // Only what comes before the last one so far can be on the page.
    const last = found.length > limit ? found.at(-1) : undefined
    const bounds = [
      ...(after ? [{ is: `(value, createdAt, id) ${isNext} (?, ?, ?)`, place: after }] : []),
      ...(last ? [{ is: `not (value, createdAt, id) ${isNext} (?, ?, ?)`, place: last }] : []),
    ]
    const rows = await read(
      `select * from (select calls.seq as seq, calls.created_at as createdAt, calls.id as id, document_chars as chars, ${value.sql} as value ${slice.sql})
        where ${bounds.map(({ is }) => is).join(' and ') || 'true'} order by value ${direction}, createdAt ${direction}, id ${direction} limit ?`,
      [
        ...value.params,
        ...slice.params,
        ...bounds.flatMap(({ place }) => [place.value ?? 0, place.createdAt, place.id]),
        limit + 1,
      ],
    )
    const more = rows.map(([seq, createdAt, id, chars, value]) => {
      return {
        seq: Number(seq),
        createdAt: Number(createdAt),
        id: String(id),
        chars: Number(chars),
        value: Number(value),
      }
    })
    if (more.length > 0) found = [...found, ...more].sort(isFirst).slice(0, limit + 1)
  }
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
      value: valueIn(order),
    })
    .from(sql`calls`)
    .where(sql`project_id = ${projectId} and calls.id = ${id}`)
  return place
}
