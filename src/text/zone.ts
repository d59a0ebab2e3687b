const msPerMinute = 60_000

/**
 * By how many milliseconds the clocks of a time zone, such as `Europe/Berlin`, are ahead of UTC at an instant.
 * @returns null for a time zone that is unknown here
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

/** The name of a time zone of the IANA database as it is written there; null for any other text. */
export function zoneName(zone: string): string | null {
  // An offset such as `+02:00` knows no summer time.
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
    // It throws for a time zone that it does not know.
    return null
  }
}
