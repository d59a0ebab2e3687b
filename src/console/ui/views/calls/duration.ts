/** `3 minutes 7 seconds`: the same for who hears it. */
export function spokenDuration(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds))
  const parts = [
    plural(Math.floor(whole / 3600), 'hour'),
    plural(Math.floor(whole / 60) % 60, 'minute'),
    plural(whole % 60, 'second'),
  ].filter((part) => !part.startsWith('0 '))
  return parts.join(' ') || '0 seconds'
}

/** `45s`, `2m`, `1m 30s`, `1h`: short enough for an axis. */
export function shortDuration(seconds: number): string {
  const whole = Math.round(seconds)
  const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60]
  return (
    [hours && `${hours}h`, minutes && `${minutes}m`, rest && `${rest}s`].filter(Boolean).join(' ') || '0s'
  )
}

function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

/** `1m to 2m`, `over 30m`: from (included), to (not included), in seconds. */
export function bucketLabel({ from, to }: { from: number; to: number | null }): string {
  if (to === null) return `over ${shortDuration(from)}`
  return from === 0 ? `under ${shortDuration(to)}` : `${shortDuration(from)} to ${shortDuration(to)}`
}
