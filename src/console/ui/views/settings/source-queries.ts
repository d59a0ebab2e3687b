import { queryOptions } from '@tanstack/react-query'
import { type PlatformName, setUpOf } from '../../../../sources/catalog.ts'
import type { SourceRecord } from '../../../../sources/sources.ts'
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

/** The address that the platform sends to, or the variable that tells it. */
export function addressOf({ id, platform }: Pick<SourceRecord, 'id' | 'platform'>): string {
  const { variable } = setUpOf(platform)
  return variable ? `${variable}=${location.origin}` : `${location.origin}/ingest/from/${id}`
}

/** What the platform sends: the word for one of them. */
export function sentBy(platform: PlatformName): 'event' | 'session' {
  return setUpOf(platform).variable ? 'session' : 'event'
}
