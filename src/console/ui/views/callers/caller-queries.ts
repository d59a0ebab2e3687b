import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { api, unwrap } from '../../api.ts'
import { callKeys } from '../../query-keys.ts'

const callsPerPage = '50'

/** A person by the address of their page: how many calls there are, since when, and how many on hold. */
export function callerQuery(project: string, caller: string) {
  return queryOptions({
    queryKey: callKeys.caller(project, caller),
    queryFn: ({ signal }) => unwrap(api.projects({ project }).callers({ caller }).get({ fetch: { signal } })),
  })
}

/** The person's calls, newest first. */
export function callerCallsQuery(project: string, caller: string) {
  return infiniteQueryOptions({
    queryKey: callKeys.caller(project, caller, 'calls'),
    queryFn: ({ pageParam, signal }) =>
      unwrap(
        api.projects({ project }).calls.get({
          query: { caller, limit: callsPerPage, ...(pageParam === '' ? {} : { cursor: pageParam }) },
          fetch: { signal },
        }),
      ),
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor,
  })
}
