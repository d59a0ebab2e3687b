import { sql } from 'drizzle-orm'
import type { ReadDatabase } from '../../db/reader.ts'
import { calls, callValues } from '../../db/schema.ts'
import type { Figures } from '../figures/figures.ts'
import { callFilters, type ValueFilter } from '../filters.ts'
import { readAgentNames } from './agent-names.ts'
import { isUnder } from './call-values.ts'
import { newestFirst } from './place.ts'

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
export async function readFacets(
  db: ReadDatabase,
  figures: Pick<Figures, 'ask'>,
  projectId: number,
): Promise<CallFacets> {
  const facets: CallFacets = {}
  const filters = callFilters.filter((filter) => filter.kind === 'value')
  const answers = await Promise.all(
    filters.map(({ name, column }) => {
      const more = name === 'agentId' ? { entries: 'otherAgentId' } : {}
      const by = [{ kind: 'value' as const, column: `calls.${calls[column].name}`, ...more }]
      const question = { of: null, by, percents: [], wantsNewest: name === 'agentId' }
      return figures.ask(db, projectId, { conditions: [], order: newestFirst }, question, { mayBeOld: true })
    }),
  )
  for (const [at, { name }] of filters.entries()) {
    const groups = answers[at]?.groups ?? []
    facets[name] = firstOf(
      groups.flatMap(({ names: [value], calls }) => (typeof value === 'string' ? [{ value, calls }] : [])),
    )
    if (name !== 'agentId') continue
    const newest = new Map(groups.map(({ names: [value], newest }) => [value, newest]))
    const labels = await readAgentNames(
      db,
      facets[name].map(({ value }) => [value, newest.get(value) ?? 0]),
    )
    facets[name] = facets[name].map((agent) => {
      const label = labels.get(agent.value)
      return label ? { ...agent, label } : agent
    })
  }
  facets.label = await readValues(db, projectId, 'label')
  facets.assignee = await readValues(db, projectId, 'assignee')
  return facets
}

function firstOf(values: readonly FacetValue[]): FacetValue[] {
  return values.toSorted((a, b) => b.calls - a.calls || (a.value < b.value ? -1 : 1)).slice(0, facetValuesMax)
}

/** Labels or assignees in call_values, without those so long that only their hash is stored. */
async function readValues(
  db: ReadDatabase,
  projectId: number,
  name: 'label' | 'assignee',
): Promise<FacetValue[]> {
  return await db
    .select({ value: sql<string>`${callValues.value} ->> 1`, calls: sql<number>`count(*) as calls` })
    .from(callValues)
    .where(sql`${callValues.projectId} = ${projectId} and ${isUnder(sql`${callValues.value}`, name)}`)
    .groupBy(callValues.value)
    .orderBy(sql`calls desc`, callValues.value)
    .limit(facetValuesMax)
}
