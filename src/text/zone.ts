const msPerMinute = 60_000
/** No two changes of a zone's offset since 1970 are that close: some are a week apart, such as in Boa Vista in 2000. */
const stepMs = 6 * 86_400_000

/**
 * Returns a function that tells how far a time zone, such as `Europe/Berlin`, is ahead of UTC, in milliseconds.
 * @returns null for an unknown time zone
 */
export function clockOf(zone: string): ((at: number) => number) | null {
  if (zone === 'UTC') return () => 0
  const format = formatOf(zone)
  if (!format) return null
  return (at) => {
    const parts = Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, Number(value)]))
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0 } = parts
    return Date.UTC(year, month - 1, day, hour, minute) - Math.floor(at / msPerMinute) * msPerMinute
  }
}

/** The IANA name of a time zone; null for any other text. */
export function zoneName(zone: string): string | null {
  // An offset such as `+02:00` has no daylight saving time.
  return /^[A-Za-z]/.test(zone) ? (formatOf(zone)?.resolvedOptions().timeZone ?? null) : null
}

function formatOf(zone: string): Intl.DateTimeFormat | null {
  try {
    return new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
    })
  } catch {
    // It throws for an unknown time zone.
    return null
  }
}

/** A part of a period during which a time zone's offset is constant. */
export interface ZonePart {
  from: number
  to: number
  /** How far local time is ahead of UTC, in milliseconds. */
  ahead: number
}

/** The parts of a period, earliest first. @param aheadAt see `clockOf` */
export function partsOf(
  { from, to }: Record<'from' | 'to', number>,
  aheadAt: (at: number) => number,
): ZonePart[] {
  const parts: ZonePart[] = []
  let start = from
  for (let at = from; at < to; at += stepMs) {
    const next = Math.min(at + stepMs, to)
    if (aheadAt(at) === aheadAt(next)) continue
    const change = changeBetween(at, next, aheadAt)
    parts.push({ from: start, to: change, ahead: aheadAt(start) })
    start = change
  }
  return start < to ? [...parts, { from: start, to, ahead: aheadAt(start) }] : parts
}

/** The instant at which the offset changes to that at the end. */
function changeBetween(from: number, to: number, aheadAt: (at: number) => number): number {
  let [before, after] = [from, to]
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2)
    if (aheadAt(middle) === aheadAt(to)) after = middle
    else before = middle
  }
  return after
}
