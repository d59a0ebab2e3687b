import { type SQL, sql } from 'drizzle-orm'
import type { ReadDatabase } from '../../db/reader.ts'
import { calls } from '../../db/schema.ts'
import { notFound } from '../../errors.ts'
import { type CallFilter, callFilters, noValue } from '../filters.ts'
import type { CallQuery } from './call-query.ts'
import { listedText } from './call-values.ts'
import { FoundPages } from './found-pages.ts'
import { readSearchBox } from './search-box.ts'

/** How many calls that match are looked at; beyond, the counts are those of some. */
const lookedMax = 100_000

/** How many calls have each value of a filter, as text. */
export interface FacetCounts {
  counts: Record<string, number>
  /** Whether there may be more of each. */
  isCapped: boolean
}

/**
 * Counts the values of one filter among the calls that the other filters leave.
 * @throws not_found for a filter whose values cannot be counted; invalid_request for a query that cannot be read
 */
export async function countValues(
  db: ReadDatabase,
  projectId: number,
  name: string,
  query: CallQuery,
): Promise<FacetCounts> {
  const filter = callFilters.find((one) => one.name === name)
  const value = filter && columnOf(filter)
  if (!filter || !value) throw notFound('There is no such filter, or its values cannot be counted.')
  const { [filter.name]: _, order: __, cursor: ___, ...others } = query
  const { search } = await readSearchBox(db, projectId, others)
  const counts = new Map<string, number>()
  let looked = 0
  for await (const slice of new FoundPages(db, projectId, search).slices(sql`${value} as value`)) {
    const rows = await db
      .select({ value: sql<string | number | null>`value`, calls: sql<number>`count(*) as calls` })
      .from(sql`(${slice})`)
      .groupBy(sql`value`)
    for (const row of rows) {
      looked += row.calls
      for (const text of textsOf(filter, row.value)) counts.set(text, (counts.get(text) ?? 0) + row.calls)
    }
    if (looked >= lookedMax) break
  }
  return { counts: Object.fromEntries(counts), isCapped: looked >= lookedMax }
}

/** The SQL of a call's value; of labels all of them, as JSON. */
function columnOf(filter: CallFilter): SQL | null {
  switch (filter.kind) {
    case 'choice':
    case 'value':
    case 'flag':
      return sql`${calls[filter.column]}`
    case 'listed':
      return listedText(filter.name)
    case 'given':
      return sql`calls.review ->> ${filter.name === 'label' ? '$.labels' : '$.assignee'}`
    case 'mark':
      return sql`coalesce(calls.review ->> ${`$.${filter.name}`}, 0)`
    default:
      return null
  }
}

/** A stored value as the filter takes it. */
function textsOf({ kind, name }: CallFilter, value: string | number | null): string[] {
  if (kind === 'flag' || kind === 'mark') return [value === 1 ? 'true' : 'false']
  if (value === null) return [noValue]
  if (name !== 'label') return [String(value)]
  const labels: string[] = JSON.parse(String(value))
  return labels.length > 0 ? labels : [noValue]
}
