import type { Dates } from '../../components/dates.ts'

/** A row of the list: a call, or the day that the next ones are of. */
export type Entry<Row> = { key: string; row: Row } | { key: string; day: string }

/** Calls in their order, each day's under its name. */
export function byDay<Row extends { id: string; createdAt: string }>(
  rows: readonly Row[],
  dates: Dates,
  now: number,
): Entry<Row>[] {
  const entries: Entry<Row>[] = []
  let before = ''
  for (const row of rows) {
    const day = dates.dayOf(row.createdAt)
    if (day !== before) entries.push({ key: `day ${day}`, day: dates.heading(row.createdAt, now) })
    before = day
    entries.push({ key: row.id, row })
  }
  return entries
}
