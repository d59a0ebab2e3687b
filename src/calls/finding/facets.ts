import { sql } from 'drizzle-orm'
import type { ReadDatabase } from '../../db/reader.ts'
import { calls } from '../../db/schema.ts'
import { callFilters, type ValueFilter } from '../filters.ts'
import { readAgentNames } from './agent-names.ts'
import { isUnder } from './call-values.ts'
import { allTime, countBy, cutPeriod } from './counts.ts'

const facetValuesMax = 50

/** The values that calls can be filtered by, the most frequent first. */
export type CallFacets = { [Name in ValueFilter['name'] | 'label' | 'assignee']?: FacetValue[] }

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
    const counted = await countBy(db, projectId, sql<string | null>`${calls[filter.column]}`, allTime)
    facets[filter.name] = sumOf(
      [...counted].flatMap(([value, { calls }]) => (value === null ? [] : [{ value, calls }])),
    )
  }
  facets.agentId = sumOf([...(facets.agentId ?? []), ...(await readValues(db, projectId, 'otherAgentId'))])
  const names = await readAgentNames(db, projectId, facets.agentId?.map(({ value }) => value) ?? [])
  facets.agentId = facets.agentId?.map((agent) => {
    const label = names.get(agent.value)
    return label ? { ...agent, label } : agent
  })
  facets.label = await readValues(db, projectId, 'label')
  facets.assignee = await readValues(db, projectId, 'assignee')
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

/** Labels, assignees or other agents, without those so long that only their hash is stored. */
async function readValues(
  db: ReadDatabase,
  projectId: number,
  name: 'label' | 'assignee' | 'otherAgentId',
): Promise<FacetValue[]> {
  const start = JSON.stringify(`${JSON.stringify([name]).slice(0, -1)},`).slice(0, -1)
  const found: FacetValue[] = []
  for await (const { from, to } of cutPeriod(db, projectId, allTime)) {
    const rows = await db
      .select({ value: sql<string>`entry.value ->> 1 as value`, calls: sql<number>`count(*) as calls` })
      .from(sql`calls indexed by calls_by_created_at cross join json_each(value_list) as entry`)
      .where(sql`project_id = ${projectId} and created_at >= ${from} and created_at < ${to}
        and instr(value_list, ${start}) > 0 and ${isUnder(sql`entry.value`, name)}`)
      .groupBy(sql`entry.value`)
    found.push(...rows)
  }
  return sumOf(found)
}
