import dayjs from 'dayjs'

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
export function expiryOf(expiresAt: string | null): Expiry {
  return expiresAt === null
    ? { choice: 'never', day: '' }
    : { choice: 'date', day: dayjs(expiresAt).format('YYYY-MM-DD') }
}

/** ISO 8601: the end of the day, local time; null for never; undefined while no day is chosen, or one that is over. */
export function expiresAtOf({ choice, day }: Expiry): string | null | undefined {
  if (choice === 'never') return null
  if (choice !== 'date') return dayjs().add(Number(choice), 'day').toISOString()
  const end = dayjs(day).endOf('day')
  return day !== '' && end.isAfter(dayjs()) ? end.toISOString() : undefined
}
