const msPerMinute = 60_000

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
