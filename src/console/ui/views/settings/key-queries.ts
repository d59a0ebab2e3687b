import { queryOptions } from '@tanstack/react-query'
import type { KeyRecord } from '../../../../auth/keys.ts'
import { api, unwrap } from '../../api.ts'

/** The keys of a project, newest first. None holds the key itself. */
export function keysQuery(project: string) {
  return queryOptions({
    queryKey: ['project', project, 'keys'],
    queryFn: ({ signal }) => unwrap(api.projects({ project }).keys.get({ fetch: { signal } })),
  })
}

/** What a key opens, by its kind. */
export const kinds = {
  live: { label: 'API', opens: 'Reads and deletes calls, writes and searches knowledge, and serves agents.' },
  ingest: { label: 'Ingest', opens: 'Sends calls in, and can read nothing. For voice platforms.' },
} as const

export type KeyState = 'active' | 'expired' | 'revoked'

export function stateOf({ revokedAt, expiresAt }: KeyRecord, now: number): KeyState {
  if (revokedAt !== null) return 'revoked'
  return expiresAt !== null && Date.parse(expiresAt) <= now ? 'expired' : 'active'
}
