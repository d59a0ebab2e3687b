import type { ChosenFilters } from './chosen-filters.ts'

type Range = Pick<ChosenFilters, 'from' | 'to'>

/** `5 Jan`, `5 – 12 Jan`, `since 5 Jan`, with the hour where a bound is not midnight. */
export function dateRangeLabel({ from, to }: Range, now: Date): string {
  if (from && to) {
    const [first, last] = [new Date(from), lastShown(new Date(to))]
    const label = isMidnight(first) && isMidnight(new Date(to)) ? dayLabel : minuteLabel
    const [start, end] = [label(first, now), label(last, now)]
    return start === end ? start : `${start} – ${end}`
  }
  if (from) return `since ${labelOf(new Date(from), now)}`
  if (to)
    return isMidnight(new Date(to))
      ? `until ${dayLabel(lastShown(new Date(to)), now)}`
      : `before ${minuteLabel(new Date(to), now)}`
  return ''
}

/** Instants of whole local days, from the first to the last, both included. */
export function daysToRange(first: Date, last: Date): { from: string; to: string } {
  const from = new Date(first.getFullYear(), first.getMonth(), first.getDate())
  const to = new Date(last.getFullYear(), last.getMonth(), last.getDate() + 1)
  return { from: from.toISOString(), to: to.toISOString() }
}

/** The local days of a range, as a calendar shows them. */
export function rangeToDays({ from, to }: Range): [Date | null, Date | null] {
  return [from ? new Date(from) : null, to ? lastShown(new Date(to)) : null]
}

function labelOf(date: Date, now: Date): string {
  return isMidnight(date) ? dayLabel(date, now) : minuteLabel(date, now)
}

function dayLabel(date: Date, now: Date): string {
  const year = date.getFullYear() === now.getFullYear() ? undefined : 'numeric'
  return date.toLocaleDateString(undefined, { day: 'numeric', month: 'short', year })
}

function minuteLabel(date: Date, now: Date): string {
  const time = date.toLocaleTimeString(undefined, { hour: '2-digit', minute: '2-digit' })
  return `${dayLabel(date, now)}, ${time}`
}

/** A range that ends with a midnight ends with the day before it. */
function lastShown(to: Date): Date {
  return isMidnight(to) ? new Date(to.getTime() - 1) : to
}

function isMidnight(date: Date): boolean {
  return date.getHours() + date.getMinutes() + date.getSeconds() + date.getMilliseconds() === 0
}
