import { useNow } from './use-now.ts'

const steps = [
  { unit: 'second', seconds: 1, below: 60 },
  { unit: 'minute', seconds: 60, below: 3_600 },
  { unit: 'hour', seconds: 3_600, below: 86_400 },
  { unit: 'day', seconds: 86_400, below: 7 * 86_400 },
] as const

interface InstantProps {
  /** ISO 8601. */
  at: string
  /** `relative` is `5 min. ago` for up to a week, then the day; `absolute` is day and time. */
  as?: 'relative' | 'absolute' | 'day'
}

/** A time in the reader's locale, with the exact instant on hover. */
export function Instant({ at, as = 'relative' }: InstantProps) {
  const now = useNow()
  const date = new Date(at)
  if (Number.isNaN(date.getTime())) return <span>{at}</span>
  return (
    <time dateTime={at} title={`${asLocal(date)}\n${at}`} className="cb-figure">
      {as === 'relative' ? asRelative(date, now) : as === 'day' ? asDay(date, now) : asLocal(date)}
    </time>
  )
}

function asRelative(date: Date, now: number): string {
  const seconds = Math.round((date.getTime() - now) / 1_000)
  const distance = Math.abs(seconds)
  const step = steps.find(({ below }) => distance < below)
  if (!step) return asDay(date, now)
  // A count of seconds would be out of date before it is read.
  if (step.unit === 'second') return seconds > 0 ? 'in a moment' : 'just now'
  return new Intl.RelativeTimeFormat(undefined, { numeric: 'auto', style: 'short' }).format(
    Math.trunc(seconds / step.seconds),
    step.unit,
  )
}

function asDay(date: Date, now: number): string {
  const isThisYear = date.getFullYear() === new Date(now).getFullYear()
  return new Intl.DateTimeFormat(undefined, {
    day: 'numeric',
    month: 'short',
    ...(isThisYear ? {} : { year: 'numeric' }),
  }).format(date)
}

function asLocal(date: Date): string {
  return new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' }).format(date)
}
