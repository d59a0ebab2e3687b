import type { CountryCode } from 'libphonenumber-js/max'
import type { Work } from '../threads/time-slices.ts'
import { chunksOf, type DigitGroup, type DigitRun, digitRuns } from './digits.ts'
import type { Finding } from './kinds.ts'
import { isPhoneAbroad, type NumberSpan, phoneTest } from './phones.ts'

/** How much of the text before a number tells what kind of number it is. */
const contextCharsMax = 56
/** What follows the comma in a number such as 1,234. */
const thousands = /^\d{3}(?![\d-])/
/** The shortest phone number. */
const digitsMin = 7
/** The longest card number. */
const digitsMax = 19
/** Longer runs are not searched for national phone numbers, so that the search takes linear time. */
const groupsMax = 32

interface NumbersOptions {
  country: CountryCode | null
  /** What the text is, such as the key of a JSON member. */
  label: string
}

/** Where a number may start: at one group of a run. */
interface Place {
  text: string
  run: DigitRun
  at: number
  /** Where the last number ends. The text before that says nothing about this number. */
  from: number
  label: string
  country: CountryCode | null
}

/** The phone numbers, card numbers and US social-security numbers in a text, written or spoken. */
export function* findNumbers(text: string, { country, label }: NumbersOptions): Work<Finding[]> {
  const findings: Finding[] = []
  let from = 0
  for (const run of digitRuns(text)) {
    yield
    if (!run || (!run.isPart && digitsIn(run.groups) < digitsMin)) continue
    for (let at = run.from; at < run.until; at++) {
      // This group is part of the last number.
      if ((run.groups[at]?.start ?? 0) < from) continue
      yield
      const number = numberAt({ text, run, at, from, label, country })
      if (!number) continue
      findings.push(number)
      from = number.end
    }
  }
  return findings
}

/** The longest number that starts at a group. The cheapest checks come first, because texts may be hostile. */
function numberAt(place: Place): Finding | null {
  const { text, run, at, from, country } = place
  const { groups } = run
  const start = groups[at]?.start ?? 0
  if (!isStart(text, start)) return null
  const candidates = candidatesAt(place)
  if (candidates.length === 0) return null
  const as = (kind: Finding['kind'], { end }: Candidate, before = '') => ({
    kind,
    start: start - before.length,
    end,
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

/** The spans that start at a group and have as many digits as a number may have, the longest first. */
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
  const ownText = text.slice(own[0]?.start, end)
  return {
    text: ownText,
    digits,
    chunks: chunksOf(text, own),
    isSpoken: own.some(({ isSpoken }) => isSpoken),
    isWhole: !isReadOn(text, groups, at) && !isReadOn(text, groups, at + length),
    isDashed: /\d[-‐‑–.]\d/.test(ownText),
    isLast: at + length === groups.length,
    after: text.slice(end, end + 16),
  }
}

/** Whether a group is in one chunk with the group before it. */
function isReadOn(text: string, groups: readonly DigitGroup[], at: number): boolean {
  return at > 0 && at < groups.length && chunksOf(text, groups.slice(at - 1, at + 1)).length === 1
}

/** The text before a number, back to the last mark, with `orderId` and `order_id` split into words. */
function contextOf({ text, run: { groups, first: firstOfRun }, at, from, label }: Place): string {
  // Within digits that are read out, the context is what stands before the first of them.
  const first = isReadOn(text, groups, at) ? firstOfRun : groups[at]
  const start = Math.max(first?.start ?? 0, from)
  const before = text.slice(Math.max(from, start - contextCharsMax), start)
  const isAll = before.length === start && !before.includes(']')
  const context = `${isAll ? `${label}: ` : ''}${before.slice(before.lastIndexOf(']') + 1)}`
  // JSON within a text says `"type":"text","text":` of any words: see `redactStrings`.
  const plainContext = context.replace(/"text\\*"/g, '"')
  return plainContext.replace(/([a-z])([A-Z])/g, '$1 $2').replaceAll('_', ' ')
}

/** False for digits that continue a word, a path, a time or an amount. */
function isStart(text: string, start: number): boolean {
  // The `n` of an escaped line break (JSON within a text) is not a letter.
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

/** Whether the text says that an order number or the like follows: one in ten of them passes a card's check digit. */
function isOrder(before: string): boolean {
  return /\b(?:order|tracking|confirmation|reference|invoice|booking|ticket|shipment|parcel|transaction|serial|imei)\b[\s:#"']*(?:(?:number|num|no|id|code|is|was)\b[\s.:#"']*)*$/i.test(
    before,
  )
}

/** No part is all zeros, and the first is not 666 or 9xx (https://www.ssa.gov/employer/randomization.html). */
function isSocialSecurity(digits: string): boolean {
  return /^(?!000|666|9)\d{3}(?!00)\d{2}(?!0000)\d{4}$/.test(digits)
}

/** Nine digits are a social-security number if they are grouped 3-2-4, or if the text before says so. */
function saysSocialSecurity(place: Place, { length }: Candidate): boolean {
  const context = contextOf(place)
  const shape = chunksOf(place.text, place.run.groups.slice(place.at, place.at + length)).join('-')
  return !isOrder(context) && (shape === '3-2-4' || /\b(?:social|ssn|s\.s\.n\.?)\b/i.test(context))
}

/** Card numbers by network, from their first digits and length (ISO/IEC 7812 and the networks' published ranges). */
const networks =
  /^(?:4(?:\d{12}|\d{15}|\d{18})|5[1-5]\d{14}|2(?:22[1-9]|2[3-9]\d|[3-6]\d\d|7[01]\d|720)\d{12}|3[47]\d{13}|3(?:0[0-5]|[689]\d)\d{11}|(?:6011|64[4-9]\d|65\d\d|60\d\d|8[12]\d\d|62\d\d|35\d\d)\d{12}|(?:5[06789]|6\d)\d{14})$/

/** Whether the digits are a payment card number: from a known network, with the right check digit. */
function isCard(digits: string): boolean {
  return networks.test(digits) && luhnSum(digits) % 10 === 0
}

/** The Luhn sum (ISO/IEC 7812-1, annex B): every second digit from the right is doubled, minus 9 if that exceeds 9. */
function luhnSum(digits: string): number {
  let sum = 0
  for (let place = 0; place < digits.length; place++) {
    const digit = Number(digits[digits.length - 1 - place])
    sum += place % 2 === 0 ? digit : digit * 2 - (digit > 4 ? 9 : 0)
  }
  return sum
}
