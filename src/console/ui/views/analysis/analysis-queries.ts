import { queryOptions } from '@tanstack/react-query'
import { api, pathOf, read, unwrap } from '../../api.ts'
import { type ChosenFilters, filterKey } from '../calls/chosen-filters.ts'

const refetchMs = 15_000
/** While something is under way. */
const busyMs = 2_000

/** Which model is asked, what it has used this month, and why it is not asked at the moment. */
export function statusQuery(project: string) {
  return queryOptions({
    ...read(api.projects({ project }).analysis),
    refetchInterval: refetchMs,
  })
}

/** A version of the rubric, null if there is none, and the list of all versions. @param version the one in force by default */
export function rubricQuery(project: string, version?: number) {
  return queryOptions({
    ...read(api.projects({ project }).analysis.rubric, queryOfVersion(version)),
    staleTime: 30_000,
  })
}

/** The analysis of a call. */
export function callAnalysisQuery(project: string, id: string) {
  return queryOptions({
    ...read(api.projects({ project }).calls({ id }).analysis),
    refetchInterval: ({ state: { data } }) =>
      data && ['queued', 'running', 'paused'].includes(data.state) ? busyMs * 2 : false,
  })
}

/** How many calls a run would analyze, and about how many tokens they take. */
export function planQuery(project: string, filters: ChosenFilters) {
  const { runs } = api.projects({ project }).analysis
  return queryOptions({
    queryKey: [...pathOf(runs), 'plan', filterKey(filters)],
    queryFn: ({ signal }) => unwrap(runs.post({ filters, dryRun: true }, { fetch: { signal } })),
  })
}

/** The newest runs over past calls. */
export function runsQuery(project: string) {
  return queryOptions({
    ...read(api.projects({ project }).analysis.runs),
    refetchInterval: ({ state: { data } }) =>
      data?.data.some(({ state }) => state === 'running') ? busyMs : refetchMs,
  })
}

/** How far people and a version of the rubric agree. */
export function agreementQuery(project: string, version: number | undefined) {
  return read(api.projects({ project }).analysis.agreement, queryOfVersion(version))
}

/** The calls that tell most when a person reviews them. */
export function nextQuery(project: string) {
  return read(api.projects({ project }).analysis.next)
}

function queryOfVersion(version: number | undefined) {
  return version === undefined ? {} : { version: String(version) }
}
