import { type Dates, plusDays } from '../../components/dates.ts'

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
