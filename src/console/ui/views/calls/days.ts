import type { Dates } from '../../components/dates.ts'

/** A row of the list: a call, or the heading of a day. */
export type Entry<Row> = { key: string; row: Row } | { key: string; day: string }

/** Calls in order, without days. */
export function withoutDays<Row extends { id: string }>(rows: readonly Row[]): Entry<Row>[] {
  return rows.map((row) => ({ key: row.id, row }))
}

/** Calls in order, below the heading of their day. */
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
