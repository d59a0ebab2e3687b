import { isNotNull, sql } from 'drizzle-orm'
import type { ReadDatabase } from '../db/reader.ts'
import { calls } from '../db/schema.ts'
import { callFilters, type ValueFilter } from './filters.ts'

const valuesMax = 50

/** The values that calls can be filtered by, the most frequent first. */
export type CallFacets = { [Name in ValueFilter['name']]?: { value: string; calls: number }[] }

/** Each filter's values are counted in an index that has them in order. */
export async function readFacets(db: ReadDatabase, projectId: number): Promise<CallFacets> {
  const facets: CallFacets = {}
  for (const filter of callFilters) {
    if (filter.kind !== 'value') continue
    const column = calls[filter.column]
    facets[filter.name] = await db
      .select({ value: sql<string>`${column}`, calls: sql<number>`count(*) as calls` })
      .from(calls)
      .where(sql`${calls.projectId} = ${projectId} and ${isNotNull(column)}`)
      .groupBy(column)
      .orderBy(sql`calls desc`, column)
      .limit(valuesMax)
  }
  return facets
}
