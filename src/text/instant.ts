/** ISO 8601 with a zone; whether the day exists is checked when it is read. */
export const instantPattern =
  '^\\d{4}-\\d{2}-\\d{2}[Tt]\\d{2}:\\d{2}(:\\d{2}(\\.\\d{1,9})?)?([Zz]|[+-]\\d{2}:\\d{2})$'

const day =
  '(?:[0-9]{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)|02-(?:0[1-9]|1[0-9]|2[0-8]))' +
  '|(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)-02-29)'
const time = '(?:[01][0-9]|2[0-3]):[0-5][0-9]'
// On the first and the last day, whether a time with an offset is in range depends on the offset.
const years = '(?=19[7-9]|[2-9])(?!1970-01-01.*[+]|9999-12-31.*-[0-9:]+$)'

/** For the OpenAPI document: only times that exist, from 1970 to 9999, so that every match is accepted. */
export const certainInstantPattern = `^${years}${day}[Tt]${time}(?::[0-5][0-9](?:[.][0-9]{1,9})?)?(?:[Zz]|[+-]${time})$`

const instant = new RegExp(instantPattern)
const instantMax = Date.UTC(9999, 11, 31, 23, 59, 59, 999)

/** The same, or a date, for the OpenAPI document. */
export const certainTimeOrDayPattern = `^${years}${day}(?:[Tt]${time}(?::[0-5][0-9](?:[.][0-9]{1,9})?)?(?:[Zz]|[+-]${time}))?$`

/**
 * Milliseconds since 1970; null for a text that is not an ISO time, does not exist (30 February) or is out of range.
 */
export function readInstant(text: string): number | null {
  if (!instant.test(text)) return null
  const time = Date.parse(text.toUpperCase())
  const [year = 0, month = 0, day = 0] = text.slice(0, 10).split('-').map(Number)
  const date = new Date(Date.UTC(year, month - 1, day))
  const exists = date.getUTCMonth() === month - 1 && date.getUTCDate() === day
  return exists && time >= 0 && time <= instantMax ? time : null
}

/** The same, or so many days before now, such as `90d`. */
export function readSince(text: string, now: number): number | null {
  const [, days] = /^([1-9]\d{0,3})d$/.exec(text) ?? []
  return days === undefined ? readInstant(text) : now - Number(days) * 86_400_000
}

/** ISO 8601, UTC, of milliseconds since 1970. */
export function toIso(time: number | null): string | null {
  return time === null ? null : new Date(time).toISOString()
}
