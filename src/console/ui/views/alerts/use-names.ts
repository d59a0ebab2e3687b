import { useQuery } from '@tanstack/react-query'
import { useProject } from '../../session.ts'
import { rubricQuery } from '../analysis/analysis-queries.ts'
import { facetsQuery } from '../calls/call-queries.ts'
import type { Names } from './alert-words.ts'

/** The names of the project's criteria and agents. */
export function useNames(): Names {
  const { id: project } = useProject()
  const { data } = useQuery(rubricQuery(project))
  const { data: facets } = useQuery(facetsQuery(project))
  return {
    criteria: new Map(data?.rubric?.criteria.map(({ id, name }) => [id, name])),
    agents: new Map(facets?.agentId?.flatMap(({ value, label }) => (label ? [[value, label] as const] : []))),
  }
}
