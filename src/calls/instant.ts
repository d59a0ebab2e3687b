/** ISO 8601 with a zone; whether the day exists is checked when it is read. */
export const instantPattern =
  '^\\d{4}-\\d{2}-\\d{2}[Tt]\\d{2}:\\d{2}(:\\d{2}(\\.\\d{1,9})?)?([Zz]|[+-]\\d{2}:\\d{2})$'

const instant = new RegExp(instantPattern)
const instantMax = Date.UTC(9999, 11, 31, 23, 59, 59, 999)

/** Milliseconds since 1970 of an ISO time; null for another text, a day such as 30 February, or one out of range. */
export function readInstant(text: string): number | null {
  if (!instant.test(text)) return null
  const time = Date.parse(text.toUpperCase())
  const [year = 0, month = 0, day = 0] = text.slice(0, 10).split('-').map(Number)
  const date = new Date(Date.UTC(year, month - 1, day))
  const exists = date.getUTCMonth() === month - 1 && date.getUTCDate() === day
  return exists && time >= 0 && time <= instantMax ? time : null
}
