import { queryOptions } from '@tanstack/react-query'
import { api, unwrap } from '../../api.ts'
import { analysisKeys, callKeys } from '../../query-keys.ts'
import { type ChosenFilters, filterKey } from '../calls/chosen-filters.ts'

const refetchMs = 15_000
/** While something is under way. */
const busyMs = 2_000

/** Which model is asked, what it has used this month, and why it is not asked at the moment. */
export function statusQuery(project: string) {
  return queryOptions({
    queryKey: analysisKeys.status(project),
    queryFn: ({ signal }) => unwrap(api.projects({ project }).analysis.get({ fetch: { signal } })),
    refetchInterval: refetchMs,
  })
}

/** A version of the rubric, null if there is none, and the list of all versions. @param version the one in force by default */
export function rubricQuery(project: string, version?: number) {
  return queryOptions({
    queryKey: analysisKeys.rubric(project, version),
    queryFn: ({ signal }) =>
      unwrap(
        api.projects({ project }).analysis.rubric.get({
          query: version === undefined ? {} : { version: String(version) },
          fetch: { signal },
        }),
      ),
    staleTime: 30_000,
  })
}

/** The analysis of a call. */
export function callAnalysisQuery(project: string, id: string) {
  return queryOptions({
    queryKey: callKeys.analysis(project, id),
    queryFn: ({ signal }) =>
      unwrap(api.projects({ project }).calls({ id }).analysis.get({ fetch: { signal } })),
    refetchInterval: ({ state: { data } }) =>
      data && ['queued', 'running', 'paused'].includes(data.state) ? busyMs * 2 : false,
  })
}

/** How many calls a run would analyze, and about how many tokens they take. */
export function planQuery(project: string, filters: ChosenFilters) {
  return queryOptions({
    queryKey: analysisKeys.plan(project, filterKey(filters)),
    queryFn: ({ signal }) =>
      unwrap(api.projects({ project }).analysis.runs.post({ filters, dryRun: true }, { fetch: { signal } })),
  })
}

/** The newest runs over past calls. */
export function runsQuery(project: string) {
  return queryOptions({
    queryKey: analysisKeys.runs(project),
    queryFn: ({ signal }) => unwrap(api.projects({ project }).analysis.runs.get({ fetch: { signal } })),
    refetchInterval: ({ state: { data } }) =>
      data?.data.some(({ state }) => state === 'running') ? busyMs : refetchMs,
  })
}

/** How far people and a version of the rubric agree. */
export function agreementQuery(project: string, version: number | undefined) {
  return queryOptions({
    queryKey: analysisKeys.agreement(project, version),
    queryFn: ({ signal }) =>
      unwrap(
        api.projects({ project }).analysis.agreement.get({
          query: version === undefined ? {} : { version: String(version) },
          fetch: { signal },
        }),
      ),
  })
}

/** The calls that tell most when a person reviews them. */
export function nextQuery(project: string) {
  return queryOptions({
    queryKey: analysisKeys.next(project),
    queryFn: ({ signal }) => unwrap(api.projects({ project }).analysis.next.get({ fetch: { signal } })),
  })
}
