import type { ReadDatabase } from '../../db/reader.ts'
import { notFound } from '../../errors.ts'
import type { Figures } from '../figures/figures.ts'
import { groupingOf } from '../figures/filter-grouping.ts'
import type { Group, Grouping } from '../figures/question.ts'
import { type CallFilter, callFilters, noValue, type ValueFilter } from '../filters.ts'
import { readAgentNames } from './agent-names.ts'
import type { CallQuery } from './call-query.ts'
import { newestFirst } from './place.ts'
import { readSearchBox } from './search-box.ts'

/** Values that only older calls have are not suggested. */
const callsMax = 100_000
const facetValuesMax = 50

/** The values that calls can be filtered by, the most frequent first. */
export type CallFacets = { [Name in ValueFilter['name'] | (typeof listed)[number]]?: FacetValue[] }

const listed = ['label', 'assignee', 'agentVersion'] as const
const ownAgents = { kind: 'value', column: 'calls.agent_id' } as const

/** How many calls have each value of a filter, as text. */
export interface FacetCounts {
  counts: Record<string, number>
}

/** `label` is its name for people, if it differs from the value. */
interface FacetValue {
  value: string
  calls: number
  label?: string
}

interface FacetParts {
  db: ReadDatabase
  figures: Pick<Figures, 'ask'>
}

/** Reads the counts of each filter's values. */
export async function readFacets({ db, figures }: FacetParts, projectId: number): Promise<CallFacets> {
  const search = { conditions: [], order: newestFirst }
  const options = { mayBeOld: true, newest: callsMax }
  const groupsBy = async (by: Grouping, wantsNewest = false) =>
    (await figures.ask(db, projectId, search, { of: null, by: [by], percents: [], wantsNewest }, options))
      .groups
  const facetOf = async ({ name, kind }: CallFilter): Promise<[string, FacetValue[]][]> => {
    const by = groupingOf(name)
    if (!by || !(kind === 'value' || listed.some((one) => one === name))) return []
    if (name !== 'agentId') return [[name, valuesIn(await groupsBy(by))]]
    // The name of an agent is in the details of its own calls alone.
    const [all, own] = await Promise.all([groupsBy(by), groupsBy(ownAgents, true)])
    return [[name, await withNames(db, all, own)]]
  }
  return Object.fromEntries((await Promise.all(callFilters.map(facetOf))).flat())
}

/**
 * Counts the values of one filter among the calls that the other filters leave.
 * @throws not_found for a filter whose values cannot be counted; invalid_request for a query that cannot be read
 */
export async function countValues(
  { db, figures }: FacetParts,
  projectId: number,
  name: string,
  query: CallQuery,
): Promise<FacetCounts> {
  const grouping = groupingOf(name)
  if (!grouping) throw notFound('There is no such filter, or its values cannot be counted.')
  const { [name]: _, order: __, cursor: ___, ...others } = query
  const { search } = await readSearchBox(db, projectId, others)
  const question = { of: null, by: [grouping], percents: [] }
  const { groups } = await figures.ask(db, projectId, search, question, { mayBeOld: true })
  const isMark = callFilters.some((one) => one.name === name && one.kind === 'mark')
  const none = isMark ? 'false' : noValue
  return { counts: Object.fromEntries(groups.map(({ names: [value], calls }) => [value ?? none, calls])) }
}

function valuesIn(groups: readonly Group[]): FacetValue[] {
  return groups
    .flatMap(({ names: [value], calls }) => (typeof value === 'string' ? [{ value, calls }] : []))
    .sort((a, b) => b.calls - a.calls || (a.value < b.value ? -1 : 1))
    .slice(0, facetValuesMax)
}

/** Agents with their names in the newest calls of their own. */
async function withNames(
  db: ReadDatabase,
  groups: readonly Group[],
  own: readonly Group[],
): Promise<FacetValue[]> {
  const newest = new Map(own.map(({ names: [value], newest }) => [value, newest]))
  const agents = valuesIn(groups)
  const labels = await readAgentNames(
    db,
    agents.map(({ value }) => [value, newest.get(value) ?? 0]),
  )
  return agents.map((agent) => {
    const label = labels.get(agent.value)
    return label ? { ...agent, label } : agent
  })
}
