import type { ReadDatabase } from '../../db/reader.ts'
import { calls } from '../../db/schema.ts'
import type { Figures } from '../figures/figures.ts'
import type { Group, Grouping } from '../figures/question.ts'
import { callFilters, type ValueFilter } from '../filters.ts'
import { readAgentNames } from './agent-names.ts'
import { newestFirst } from './place.ts'

/** Values that only older calls have are not suggested. */
const callsMax = 100_000
const facetValuesMax = 50

/** The values that calls can be filtered by, the most frequent first. */
export type CallFacets = { [Name in ValueFilter['name'] | (typeof listed)[number]]?: FacetValue[] }

const listed = ['label', 'assignee', 'agentVersion'] as const

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
  const groupsBy = async (by: Grouping, wantsNewest = false) => {
    const search = { conditions: [], order: newestFirst }
    const question = { of: null, by: [by], percents: [], wantsNewest }
    const { groups } = await figures.ask(db, projectId, search, question, {
      mayBeOld: true,
      newest: callsMax,
    })
    return groups
  }
  const values = callFilters.flatMap((filter) => (filter.kind === 'value' ? [filter] : []))
  const [ofColumns, ofLists] = await Promise.all([
    Promise.all(
      values.map(async ({ name, column }) => {
        const by = { kind: 'value', column: `calls.${calls[column].name}` } as const
        if (name !== 'agentId') return [name, valuesIn(await groupsBy(by))] as const
        // The name of an agent is in the details of its own calls alone.
        const [all, own] = await Promise.all([
          groupsBy({ ...by, entries: 'otherAgentId' }),
          groupsBy(by, true),
        ])
        return [name, await withNames(db, all, own)] as const
      }),
    ),
    Promise.all(
      listed.map(async (name) => [name, valuesIn(await groupsBy({ kind: 'value', entries: name }))] as const),
    ),
  ])
  return Object.fromEntries([...ofColumns, ...ofLists])
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
