import { useEffect, useState } from 'react'
import { useProject } from '../session.ts'
import { useDates } from './use-dates.ts'

interface InstantProps {
  /** ISO 8601. */
  at: string
  /**
   * `relative` is `5 min ago` for up to a week, then the day; `coming` is the same for future times; `moment`
   * is day and minute, `second` has seconds, `absolute` the year as well.
   */
  as?: 'relative' | 'coming' | 'moment' | 'second' | 'absolute' | 'day'
}

/** A time, with the exact instant on hover. */
export function Instant({ at, as = 'relative' }: InstantProps) {
  const now = useNow()
  const dates = useDates()
  if (Number.isNaN(Date.parse(at))) return <span>{at}</span>
  const texts = {
    relative: () => dates.relative(at, now),
    coming: () => dates.relative(at, now, 'in a moment'),
    moment: () => dates.moment(at, now),
    second: () => dates.momentWithSecond(at, now),
    absolute: () => dates.full(at),
    day: () => dates.day(at, now),
  }
  return (
    <time dateTime={at} title={`${dates.exact(at)}\n${at}`} className="cb-figure">
      {texts[as]()}
    </time>
  )
}

/** Tells the time zone of a page if it is the project's, which may differ from the reader's. */
export function ZoneNote() {
  const { timeZone } = useProject()
  const { zone } = useDates()
  return timeZone === null ? null : <> · Times in {zone}</>
}

const everyMs = 30_000

/** Milliseconds since 1970, updated twice a minute. */
export function useNow(): number {
  const [now, setNow] = useState(() => Date.now())
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMs)
    return () => clearInterval(timer)
  }, [])
  return now
}
