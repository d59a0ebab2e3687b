import type { KeyRecord } from '../../../../access/keys/key-record.ts'
import type { KeyScope } from '../../../../identity.ts'
import { type Dates, plusDays } from '../../components/dates.ts'

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

const msPerDay = 86_400_000

export const expiryChoices = [
  { value: 'never', label: 'Never' },
  { value: '30', label: '30 days' },
  { value: '90', label: '90 days' },
  { value: 'date', label: 'On a date' },
] as const

export interface Expiry {
  choice: (typeof expiryChoices)[number]['value']
  /** `2026-01-31`, for `date`; empty when none is chosen. */
  day: string
}

/** The choice that a key's expiry stands for. */
export function expiryOf(expiresAt: string | null, dates: Dates): Expiry {
  if (expiresAt === null) return { choice: 'never', day: '' }
  return { choice: 'date', day: lastDayOf(expiresAt, dates) }
}

/** The last instant at which the key works. A key that works through a day expires when the next day starts. */
export function lastInstantOf(expiresAt: string): string {
  return new Date(Date.parse(expiresAt) - 1).toISOString()
}

/** The last day of a key, such as `2026-01-31`. A day that the command line was given ends in UTC, whoever reads it. */
export function lastDayOf(expiresAt: string, dates: Dates): string {
  if (expiresAt.endsWith('T00:00:00.000Z')) return plusDays(expiresAt.slice(0, 10), -1)
  return dates.dayOf(lastInstantOf(expiresAt))
}

/** ISO 8601: the end of the day; null for never; undefined while no day is chosen, or one that is over. */
export function expiresAtOf({ choice, day }: Expiry, dates: Dates): string | null | undefined {
  if (choice === 'never') return null
  if (choice !== 'date') return new Date(Date.now() + Number(choice) * msPerDay).toISOString()
  if (day === '') return undefined
  const end = dates.startOf(plusDays(day, 1))
  return end > Date.now() ? new Date(end).toISOString() : undefined
}
