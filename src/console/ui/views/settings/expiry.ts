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

/** ISO 8601: the start of the day, local time; null for never; undefined while no future day is chosen. */
export function expiresAtOf({ choice, day }: Expiry): string | null | undefined {
  if (choice === 'never') return null
  if (choice !== 'date') return new Date(Date.now() + Number(choice) * msPerDay).toISOString()
  const start = new Date(`${day}T00:00:00`)
  return start.getTime() > Date.now() ? start.toISOString() : undefined
}

/** The first day that a key can expire on, as `2026-01-31`. */
export function tomorrow(): string {
  const date = new Date(Date.now() + msPerDay)
  const two = (value: number) => String(value).padStart(2, '0')
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
}
