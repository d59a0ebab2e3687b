import { queryOptions } from '@tanstack/react-query'
import type { KeyRecord } from '../../../../auth/keys.ts'
import type { KeyScope } from '../../../../identity.ts'
import { api, unwrap } from '../../api.ts'

/** The keys of a project, newest first, without their secrets. */
export function keysQuery(project: string) {
  return queryOptions({
    queryKey: ['project', project, 'keys'],
    queryFn: ({ signal }) => unwrap(api.projects({ project }).keys.get({ fetch: { signal } })),
  })
}

/** What a key may do: the scope of an API key, or `ingest`. */
export type Access = KeyScope | 'ingest'

export const accesses: Record<Access, { label: string; opens: string }> = {
  full: { label: 'Full', opens: 'Read and delete calls, write and search knowledge.' },
  read: { label: 'Read', opens: 'Read calls, read and search knowledge; change nothing.' },
  search: { label: 'Search', opens: 'Search knowledge and nothing else. For agents.' },
  ingest: { label: 'Ingest', opens: 'Send calls in; read nothing. For voice platforms.' },
}

export function isAccess(value: string): value is Access {
  return value in accesses
}

/** Ingest keys have no scope. */
export function accessOf({ scope }: KeyRecord): Access {
  return scope ?? 'ingest'
}

export type KeyState = 'active' | 'expired' | 'revoked'

export function stateOf({ revokedAt, expiresAt }: KeyRecord, now: number): KeyState {
  if (revokedAt !== null) return 'revoked'
  return expiresAt !== null && Date.parse(expiresAt) <= now ? 'expired' : 'active'
}
