import type { KeyRecord } from '../../../../access/keys/key-record.ts'
import type { KeyScope } from '../../../../identity.ts'

/** What a key may do: the scope of an API key, or `ingest`. */
export type Access = KeyScope | 'ingest'

export const accesses: Record<Access, { label: string; opens: string }> = {
  full: { label: 'Full', opens: 'Read and delete calls, write and search knowledge.' },
  read: { label: 'Read', opens: 'Read calls, and read and search knowledge. Change nothing.' },
  search: { label: 'Search', opens: 'Search knowledge and nothing else. For agents.' },
  knowledge: { label: 'Knowledge', opens: 'Read, write and search knowledge. See no calls. For CI.' },
  manage: { label: 'Manage', opens: 'Everything in Full, and change where calls come from and go to.' },
  ingest: { label: 'Ingest', opens: 'Send calls and nothing else. For voice platforms.' },
}

/** Ingest keys have no scope. */
export function accessOf({ scope }: KeyRecord): Access {
  return scope ?? 'ingest'
}

export function stateOf({ revokedAt, expiresAt }: KeyRecord, now: number): 'active' | 'expired' | 'revoked' {
  if (revokedAt !== null) return 'revoked'
  return expiresAt !== null && Date.parse(expiresAt) <= now ? 'expired' : 'active'
}

/** A key in the list. */
export interface ListedKey {
  row: KeyRecord
  /** Whether it is listed under the key that replaces it, while both work. */
  isReplaced: boolean
}

/** Newest first, with a key that is being replaced right below its replacement. */
export function inPairs(keys: readonly KeyRecord[], now: number): ListedKey[] {
  const ending = new Map<string, KeyRecord>()
  const active = keys.filter((key) => stateOf(key, now) === 'active')
  for (const { replaces } of active) {
    const old = active.find(({ id }) => id === replaces)
    if (old) ending.set(old.id, old)
  }
  const withOld = (row: KeyRecord, isReplaced: boolean): ListedKey[] => {
    const old = row.replaces && stateOf(row, now) === 'active' ? ending.get(row.replaces) : undefined
    return [{ row, isReplaced }, ...(old ? withOld(old, true) : [])]
  }
  return keys
    .filter(({ id }) => !ending.has(id))
    .toSorted((a, b) => Number(a.revokedAt !== null) - Number(b.revokedAt !== null))
    .flatMap((row) => withOld(row, false))
}

/** The dialog that creates a key. A key of 70 characters stands on one line. */
export const newKeyDialog = { title: 'Create API Key', size: 600 }
