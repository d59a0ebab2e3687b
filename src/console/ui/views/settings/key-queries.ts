import { queryOptions } from '@tanstack/react-query'
import type { KeyRecord } from '../../../../auth/keys.ts'
import { api, unwrap } from '../../api.ts'

/** The keys of a project, newest first, without their secrets. */
export function keysQuery(project: string) {
  return queryOptions({
    queryKey: ['project', project, 'keys'],
    queryFn: ({ signal }) => unwrap(api.projects({ project }).keys.get({ fetch: { signal } })),
  })
}

/** What each kind of key is for. */
export const kinds = {
  live: { label: 'API', opens: 'Read and delete calls, write and search knowledge, and connect agents.' },
  ingest: { label: 'Ingest', opens: 'Send calls in; read nothing. For voice platforms.' },
} as const

export type KeyState = 'active' | 'expired' | 'revoked'

export function stateOf({ revokedAt, expiresAt }: KeyRecord, now: number): KeyState {
  if (revokedAt !== null) return 'revoked'
  return expiresAt !== null && Date.parse(expiresAt) <= now ? 'expired' : 'active'
}
