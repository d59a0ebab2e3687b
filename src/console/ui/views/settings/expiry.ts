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
export function expiryOf(expiresAt: string | null): Expiry {
  if (expiresAt === null) return { choice: 'never', day: '' }
  // A key ends with its day, which is the first moment of the next one.
  const last = new Date(Date.parse(expiresAt) - 1)
  const [month, date] = [last.getMonth() + 1, last.getDate()].map((part) => String(part).padStart(2, '0'))
  return { choice: 'date', day: `${last.getFullYear()}-${month}-${date}` }
}

/** ISO 8601: the end of the day, local time; null for never; undefined while no day is chosen, or one that is over. */
export function expiresAtOf({ choice, day }: Expiry): string | null | undefined {
  if (choice === 'never') return null
  if (choice !== 'date') return new Date(Date.now() + Number(choice) * msPerDay).toISOString()
  const [year, month, date] = day.split('-').map(Number)
  if (!year || !month || !date) return undefined
  const end = new Date(year, month - 1, date + 1)
  return end.getTime() > Date.now() ? end.toISOString() : undefined
}
