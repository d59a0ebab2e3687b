const times = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' })
const dayAndMinute = { month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit' } as const
const daysAndTimes = new Intl.DateTimeFormat(undefined, dayAndMinute)
const yearsDaysAndTimes = new Intl.DateTimeFormat(undefined, { ...dayAndMinute, year: 'numeric' })
const exact = new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeStyle: 'long' })

/** A row of the list: a call, or the day that the next ones are of. */
export type Entry<Row> = { key: string; row: Row } | { key: string; day: string }

/** Calls in their order, whatever days they are of. */
export function withoutDays<Row extends { id: string }>(rows: readonly Row[]): Entry<Row>[] {
  return rows.map((row) => ({ key: row.id, row }))
}

/** Calls in their order, each day's under its name. */
export function byDay<Row extends { id: string; createdAt: string }>(
  rows: readonly Row[],
  now: Date,
): Entry<Row>[] {
  const entries: Entry<Row>[] = []
  let before = ''
  for (const row of rows) {
    const day = new Date(row.createdAt).toDateString()
    if (day !== before) entries.push({ key: `day ${day}`, day: dayName(new Date(row.createdAt), now) })
    before = day
    entries.push({ key: row.id, row })
  }
  return entries
}

/** `Today`, `Yesterday`, `Thu, Nov 19`, with the year when it is another. */
export function dayName(date: Date, now: Date): string {
  const midnight = (of: Date) => new Date(of.getFullYear(), of.getMonth(), of.getDate()).getTime()
  const daysAgo = Math.round((midnight(now) - midnight(date)) / 86_400_000)
  if (daysAgo === 0) return 'Today'
  if (daysAgo === 1) return 'Yesterday'
  return date.toLocaleDateString(undefined, {
    weekday: 'short',
    month: 'short',
    day: 'numeric',
    ...(date.getFullYear() === now.getFullYear() ? {} : { year: 'numeric' }),
  })
}

/** `14:32` */
export function timeOfDay(at: string): string {
  return times.format(new Date(at))
}

/** `Nov 19, 14:32`, with the year when it is another. */
export function dayAndTime(at: string, now: Date): string {
  const date = new Date(at)
  const isThisYear = date.getFullYear() === now.getFullYear()
  return (isThisYear ? daysAndTimes : yearsDaysAndTimes).format(date)
}

/** With the day, the second and the zone. */
export function exactTime(at: string): string {
  return exact.format(new Date(at))
}
