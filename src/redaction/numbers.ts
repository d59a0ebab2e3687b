import type { CountryCode } from 'libphonenumber-js/max'
import type { Work } from '../threads/time-slices.ts'
import { isCard } from './cards.ts'
import { chunksOf, type DigitGroup, type DigitRun, digitRuns } from './digits.ts'
import type { Found } from './kinds.ts'
import { isPhoneAbroad, type NumberSpan, phoneTest } from './phones.ts'

/** What stands before a number is read this far back. */
const contextCharsMax = 56
/** After a comma. */
const thousands = /^\d{3}(?![\d-])/
/** Shorter runs are no number that is looked for. */
const digitsMin = 7
/** The longest card number. */
const digitsMax = 19
/** In a longer run only what its digits alone prove is looked for, so that it takes linear time. */
const groupsMax = 32

interface NumbersOptions {
  country: CountryCode | null
  /** What the text is, such as the key of a JSON member. */
  label: string
}

/** The start of a number in a run of groups. */
interface Place {
  text: string
  run: DigitRun
  at: number
  /** Where the last number ends: what stands before that says nothing of this one. */
  from: number
  label: string
  country: CountryCode | null
}

/** The phone numbers, card numbers and US social-security numbers of a text, written or spoken. */
export function* findNumbers(text: string, { country, label }: NumbersOptions): Work<Found[]> {
  const found: Found[] = []
  let from = 0
  for (const run of digitRuns(text)) {
    yield
    if (!run || (!run.isPart && digitsIn(run.groups) < digitsMin)) continue
    for (let at = run.from; at < run.until; at++) {
      // Within the last number.
      if ((run.groups[at]?.start ?? 0) < from) continue
      yield
      const number = numberAt({ text, run, at, from, label, country })
      if (!number) continue
      found.push(number)
      from = number.end
    }
  }
  return found
}

/** The number that begins with a group, the longest first. What costs least is asked first: texts may be hostile. */
function numberAt(place: Place): Found | null {
  const { text, run, at, from, country } = place
  const { groups } = run
  const start = groups[at]?.start ?? 0
  if (!isStart(text, start)) return null
  const candidates = candidatesAt(place)
  if (candidates.length === 0) return null
  const as = (kind: Found['kind'], { end }: Candidate, before = '') => ({
    ...{ kind, start: start - before.length, end },
  })
  const isWhole = ({ end }: Candidate) => isEnd(text, end)
  const exit = candidates.find(
    (one) => isPhoneAbroad(/^00([1-9].*)/.exec(one.digits)?.[1] ?? '') === 'valid' && isWhole(one),
  )
  if (exit) return as('phone', exit)
  const plus = /(?:\+ ?\(?|\bplus )$/i.exec(text.slice(Math.max(from, start - 5), start))?.[0]
  if (plus) {
    const whole = candidates.filter(isWhole)
    const best =
      whole.find((one) => isPhoneAbroad(one.digits) === 'valid') ??
      whole.find((one) => isPhoneAbroad(one.digits) !== null)
    return best ? as('phone', best, plus) : null
  }
  const card = candidates.find((one) => isCard(one.digits) && isWhole(one))
  if (card && !isOrder(contextOf(place))) return as('card', card)
  const ssn = candidates.find((one) => isSocialSecurity(one.digits) && isWhole(one))
  if (ssn && saysSocialSecurity(place, ssn)) return as('ssn', ssn)
  if (run.isPart || groups.length > groupsMax) return null
  const isPhone = phoneTest(contextOf(place), country)
  const phone = candidates.find((one) => isWhole(one) && isPhone(spanOf(place, one)))
  return phone ? as('phone', phone, text.charAt(start - 1) === '(' ? '(' : '') : null
}

interface Candidate {
  digits: string
  end: number
  length: number
}

/** What begins with a group and may be a number as a whole, the longest first. */
function candidatesAt({ run: { groups }, at }: Place): Candidate[] {
  const candidates: Candidate[] = []
  let digits = ''
  for (let length = 1; at + length <= groups.length; length++) {
    const group = groups[at + length - 1]
    digits += group?.digits ?? ''
    if (!group || digits.length > digitsMax) break
    if (digits.length >= digitsMin) candidates.push({ digits, end: group.end, length })
  }
  return candidates.reverse()
}

function spanOf({ text, run: { groups }, at }: Place, { digits, end, length }: Candidate): NumberSpan {
  const own = groups.slice(at, at + length)
  const written = text.slice(own[0]?.start, end)
  return {
    ...{ text: written, digits, chunks: chunksOf(text, own) },
    isSpoken: own.some(({ isSpoken }) => isSpoken),
    isWhole: !isReadOn(text, groups, at) && !isReadOn(text, groups, at + length),
    isDashed: /\d[-‐‑–.]\d/.test(written),
    isLast: at + length === groups.length,
    after: text.slice(end, end + 16),
  }
}

/** Whether a group is read out in a row with the one before it. */
function isReadOn(text: string, groups: readonly DigitGroup[], at: number): boolean {
  return at > 0 && at < groups.length && chunksOf(text, groups.slice(at - 1, at + 1)).length === 1
}

/** What stands before a number, from the last mark on, with `orderId` and `order_id` as words. */
function contextOf({ text, run: { groups, first: firstOfRun }, at, from, label }: Place): string {
  // Of digits that are read out, none is told from the others by those before it.
  const first = isReadOn(text, groups, at) ? firstOfRun : groups[at]
  const start = Math.max(first?.start ?? 0, from)
  const before = text.slice(Math.max(from, start - contextCharsMax), start)
  const isAll = before.length === start && !before.includes(']')
  const context = `${isAll ? `${label}: ` : ''}${before.slice(before.lastIndexOf(']') + 1)}`
  return context.replace(/([a-z])([A-Z])/g, '$1 $2').replaceAll('_', ' ')
}

/** Digits that go on from a word, a path, a time or an amount are no number that is looked for. */
function isStart(text: string, start: number): boolean {
  // A line break in JSON within a text is no letter.
  const before = text.slice(Math.max(0, start - 3), start).replace(/\\[nrt]$/, ' ')
  if (/\d,$/.test(before)) return !thousands.test(text.slice(start, start + 4))
  return !/(?:[\p{L}\p{N}_]|\d[.:/]|[\p{L}\p{N}][/#&?-]|[#$€£¥] ?)$/u.test(before)
}

function isEnd(text: string, end: number): boolean {
  if (/^,\d/.test(text.slice(end, end + 2))) return !thousands.test(text.slice(end + 1, end + 5))
  return !/^(?:[\p{L}\p{N}_]|[.:/]\d|-[\p{L}\p{N}])/u.test(text.slice(end, end + 2))
}

function digitsIn(groups: readonly DigitGroup[]): number {
  return groups.reduce((sum, { digits }) => sum + digits.length, 0)
}

/** The number of an order may pass as that of a card: one in ten has the right check digit. */
function isOrder(before: string): boolean {
  return /\b(?:order|tracking|confirmation|reference|invoice|booking|ticket|shipment|parcel|transaction|serial|imei)\b[\s:#"']*(?:(?:number|num|no|id|code|is|was)\b[\s.:#"']*)*$/i.test(
    before,
  )
}

/** Never 000, 666 or 9xx, 00, 0000 (https://www.ssa.gov/employer/randomization.html). */
function isSocialSecurity(digits: string): boolean {
  return /^(?!000|666|9)\d{3}(?!00)\d{2}(?!0000)\d{4}$/.test(digits)
}

/** Nine digits are one when they stand as 3-2-4, or are said to be one. */
function saysSocialSecurity(place: Place, { length }: Candidate): boolean {
  const context = contextOf(place)
  const shape = chunksOf(place.text, place.run.groups.slice(place.at, place.at + length)).join('-')
  return !isOrder(context) && (shape === '3-2-4' || /\b(?:social|ssn|s\.s\.n\.?)\b/i.test(context))
}
