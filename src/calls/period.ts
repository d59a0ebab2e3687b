import { type FieldError, invalidRequest } from '../errors.ts'
import { readInstant } from './instant.ts'

const periodDaysMax = 366
const msPerDay = 86_400_000

/** Milliseconds since 1970: from (included), to (not included). */
export interface Period {
  from: number
  to: number
}

/** The same as ISO 8601 texts. */
export interface PeriodTexts {
  from: string
  to: string
}

/** @throws invalid_request for times that cannot be read, and for a period that is empty or longer than 366 days. */
export function readPeriod(texts: PeriodTexts): Period {
  const errors: FieldError[] = []
  const read = (field: 'from' | 'to'): number => {
    const time = readInstant(texts[field])
    const message = 'must be an ISO 8601 time with a zone, such as 2026-01-31T09:30:00.000Z'
    if (time === null) errors.push({ field, message })
    return time ?? 0
  }
  const period = { from: read('from'), to: read('to') }
  if (errors.length === 0) {
    const days = (period.to - period.from) / msPerDay
    if (days <= 0) errors.push({ field: 'to', message: 'must be after from' })
    if (days > periodDaysMax) {
      errors.push({ field: 'to', message: `must be at most ${periodDaysMax} days after from` })
    }
  }
  if (errors.length > 0) throw invalidRequest(errors)
  return period
}
