import { queryOptions } from '@tanstack/react-query'
import { api, unwrap } from '../../api.ts'
import { settingsKeys } from '../../query-keys.ts'

const pollMs = 1_000
const listPollMs = 5_000

/** One receipt, asked for again until no byte is left. */
export function receiptQuery(project: string, id: string) {
  return queryOptions({
    queryKey: settingsKeys.erasure(project, id),
    queryFn: ({ signal }) => unwrap(api.projects({ project }).erasures({ id }).get({ fetch: { signal } })),
    refetchInterval: ({ state }) => (state.data?.status === 'done' ? false : pollMs),
  })
}

/** The newest erasure requests. */
export function receiptsQuery(project: string) {
  return queryOptions({
    queryKey: settingsKeys.erasures(project),
    queryFn: ({ signal }) => unwrap(api.projects({ project }).erasures.get({ fetch: { signal } })),
    refetchInterval: ({ state }) =>
      state.data?.data.some(({ status }) => status === 'pending') ? listPollMs : false,
  })
}
