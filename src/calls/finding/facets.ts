import { sql } from 'drizzle-orm'
import type { ReadDatabase } from '../../db/reader.ts'
import { callValues } from '../../db/schema.ts'
import { callFilters, type ValueFilter } from '../filters.ts'
import { readAgentNames } from './agent-names.ts'
import { isUnder } from './call-values.ts'
import { countsOfAllTime } from './counts.ts'

const facetValuesMax = 50

/** The values that calls can be filtered by, the most frequent first. */
export type CallFacets = {
  [Name in ValueFilter['name'] | 'label' | 'assignee' | 'agentVersion']?: FacetValue[]
}

/** `label` is its name for people, if it differs from the value. */
interface FacetValue {
  value: string
  calls: number
  label?: string
}

/** Reads the counts of each filter's values. */
export async function readFacets(db: ReadDatabase, projectId: number): Promise<CallFacets> {
  const facets: CallFacets = {}
  for (const filter of callFilters) {
    if (filter.kind !== 'value') continue
    facets[filter.name] = await db
      .select({ value: sql<string>`value ->> '$' as value`, calls: sql<number>`calls` })
      .from(sql`(${countsOfAllTime(projectId, filter.name)}) as counted`)
      .where(sql`counted.value <> 'null'`)
      .orderBy(sql`calls desc`, sql`value`)
      .limit(facetValuesMax)
  }
  facets.agentId = sumOf([...(facets.agentId ?? []), ...(await readValues(db, projectId, 'otherAgentId'))])
  const names = await readAgentNames(db, projectId, facets.agentId?.map(({ value }) => value) ?? [])
  facets.agentId = facets.agentId?.map((agent) => {
    const label = names.get(agent.value)
    return label ? { ...agent, label } : agent
  })
  facets.label = await readValues(db, projectId, 'label')
  facets.assignee = await readValues(db, projectId, 'assignee')
  facets.agentVersion = await readValues(db, projectId, 'agentVersion')
  return facets
}

function sumOf(values: readonly FacetValue[]): FacetValue[] {
  const counts = new Map<string, number>()
  for (const { value, calls } of values) counts.set(value, (counts.get(value) ?? 0) + calls)
  return [...counts]
    .map(([value, calls]) => ({ value, calls }))
    .sort((a, b) => b.calls - a.calls || (a.value < b.value ? -1 : 1))
    .slice(0, facetValuesMax)
}

/** Labels, assignees, agents or their versions in call_values, without those so long that only their hash is stored. */
async function readValues(
  db: ReadDatabase,
  projectId: number,
  name: 'label' | 'assignee' | 'agentVersion' | 'otherAgentId',
): Promise<FacetValue[]> {
  return await db
    .select({ value: sql<string>`${callValues.value} ->> 1`, calls: sql<number>`count(*) as calls` })
    .from(callValues)
    .where(sql`${callValues.projectId} = ${projectId} and ${isUnder(sql`${callValues.value}`, name)}`)
    .groupBy(callValues.value)
    .orderBy(sql`calls desc`, callValues.value)
    .limit(facetValuesMax)
}
