import { queryOptions } from '@tanstack/react-query'
import { api, unwrap } from '../../api.ts'
import { callKeys, settingsKeys } from '../../query-keys.ts'

/** How often to look for the first event, and for further ones. */
const waitingMs = 2_000
const watchingMs = 10_000

/** The sources of a project, newest first, without their secrets. */
export function sourcesQuery(project: string) {
  return queryOptions({
    queryKey: settingsKeys.sources(project),
    queryFn: ({ signal }) => unwrap(api.projects({ project }).sources.get({ fetch: { signal } })),
    refetchInterval: watchingMs,
  })
}

export function sourceQuery(project: string, id: string) {
  return queryOptions({
    queryKey: settingsKeys.source(project, id),
    queryFn: ({ signal }) => unwrap(api.projects({ project }).sources({ id }).get({ fetch: { signal } })),
    refetchInterval: ({ state }) => (state.data?.lastEventAt ? watchingMs : waitingMs),
  })
}

export function failuresQuery(project: string, id: string) {
  return queryOptions({
    queryKey: settingsKeys.failures(project, id),
    queryFn: ({ signal }) =>
      unwrap(api.projects({ project }).sources({ id }).failures.get({ fetch: { signal } })),
    refetchInterval: watchingMs,
  })
}

/** The newest call whose details name the source, and how many there are. `isAwaited` looks for the first more often. */
export function lastCallQuery(project: string, source: string, isAwaited = false) {
  return queryOptions({
    queryKey: callKeys.newest(project, source),
    queryFn: ({ signal }) =>
      unwrap(api.projects({ project }).calls.get({ query: { source, limit: '1' }, fetch: { signal } })),
    refetchInterval: ({ state }) => (isAwaited && !state.data?.data.length ? waitingMs : watchingMs),
  })
}

/** The address that the platform sends to. */
export function addressOf(id: string): string {
  return `${location.origin}/ingest/from/${id}`
}
