import { matchesIn } from './matches.ts'

/** Digits that stand together in a text, written or spoken: `4155`, `four`, `double seven`, `twenty six`. */
export interface DigitGroup {
  start: number
  end: number
  digits: string
  isSpoken: boolean
}

const units = ['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine']
const teens = [
  ...['ten', 'eleven', 'twelve', 'thirteen', 'fourteen', 'fifteen', 'sixteen', 'seventeen', 'eighteen'],
  'nineteen',
]
const tens = ['twenty', 'thirty', 'forty', 'fifty', 'sixty', 'seventy', 'eighty', 'ninety']
const values = new Map<string, string>([
  ...units.map((word, value) => [word, `${value}`] as const),
  ...['oh', 'o', 'nought', 'naught'].map((word) => [word, '0'] as const),
  ...teens.map((word, value) => [word, `${10 + value}`] as const),
  ...tens.map((word, value) => [word, `${2 + value}0`] as const),
])

const digit = [...units, 'oh', 'o', 'nought', 'naught'].join('|')
const unit = units.slice(1).join('|')
/** Any of the words, as a part of a regular expression. */
export const numberWord = `(?:${digit}|${teens.join('|')}|${tens.join('|')}|double|triple|treble)`
const group = new RegExp(
  [
    String.raw`\d+`,
    `\\b(?<times>double|triple|treble)[ -](?<repeated>${digit}|\\d)\\b`,
    `\\b(?<hundreds>${unit}) hundred\\b`,
    `\\b(?<ten>${tens.join('|')})(?:[ -](?<one>${unit}))?\\b`,
    `\\b(?<word>${digit}|${teens.join('|')})\\b`,
  ].join('|'),
  'gi',
)

/** Between written groups of one number: no comma, which separates thousands, and no full stop with a space. */
const writtenGap = /^(?:[ \u00a0\u202f]{1,2}|\.| ?[-‐‑–—()] ?|\) ?[-–—]? ?| \()$/
/** Soft hyphens, and characters of no width. */
const invisible = /[\u00ad\u200b-\u200f\u2060\ufeff]/g
const spokenGap =
  /^(?:[ ,.;…–—-]{1,4}|[ ,]{0,2}(?:dash|hyphen|dot|point|space|uh|um|and then|then)[ ,]{0,2})$/i

/** Groups of digits in a row, which may be one number or some; a long run comes in parts that overlap. */
export interface DigitRun {
  /** The first group of the whole run. */
  first: DigitGroup
  groups: DigitGroup[]
  /** From where to where numbers may start in this part. */
  from: number
  until: number
  /** Whether it is a part of a long run. */
  isPart: boolean
}

const partGroups = 1_024
/** The groups of the longest number that is looked for, one digit each. */
const numberGroups = 19

/** The groups of digits of a text, in runs, with pauses (undefined). */
export function* digitRuns(text: string): Generator<DigitRun | undefined> {
  let groups: DigitGroup[] = []
  let first: DigitGroup | undefined
  let from = 0
  let place = 0
  for (const found of matchesIn(text, group)) {
    yield undefined
    if (!found) continue
    const next = toGroup(found)
    const last = groups.at(-1)
    if (first && last && !isGap(text.slice(last.end, next.start), last, next, place)) {
      yield { first, groups, from, until: groups.length, isPart: place > groups.length }
      groups = []
      from = 0
      place = 0
    } else if (first && groups.length === partGroups) {
      const until = groups.length - numberGroups
      yield { first, groups, from, until, isPart: true }
      // With the one before, from which it may be read on.
      groups = groups.slice(until - 1)
      from = 1
    }
    if (place === 0) first = next
    groups.push(next)
    place++
  }
  if (first) yield { first, groups, from, until: groups.length, isPart: place > groups.length }
}

/**
 * How many digits stand together, such as `3-3-4`. Groups that are read out one after the other stand together; a
 * pause, written as a comma or a dash, separates them.
 */
export function chunksOf(text: string, groups: readonly DigitGroup[]): number[] {
  const chunks: number[] = []
  for (const [at, next] of groups.entries()) {
    const last = groups[at - 1]
    const isOneChunk = last && isReadOut(last, next) && /^ +$/.test(text.slice(last.end, next.start))
    chunks.push((isOneChunk ? (chunks.pop() ?? 0) : 0) + next.digits.length)
  }
  return chunks
}

function toGroup({ 0: text, index: start = 0, groups: said = {} }: RegExpMatchArray): DigitGroup {
  const at = { start, end: start + text.length }
  const { times, repeated, hundreds, ten, one, word } = said
  if (times && repeated) {
    const count = times.toLowerCase() === 'double' ? 2 : 3
    return { ...at, digits: digitsFor(repeated).repeat(count), isSpoken: true }
  }
  if (hundreds) return { ...at, digits: `${digitsFor(hundreds)}00`, isSpoken: true }
  if (ten) return { ...at, digits: digitsFor(ten).charAt(0) + (one ? digitsFor(one) : '0'), isSpoken: true }
  if (word) return { ...at, digits: digitsFor(word), isSpoken: true }
  return { ...at, digits: text, isSpoken: false }
}

function digitsFor(word: string): string {
  return values.get(word.toLowerCase()) ?? word
}

/** Words, and digits one at a time. */
function isReadOut(last: DigitGroup, next: DigitGroup): boolean {
  return last.isSpoken || next.isSpoken || (last.digits.length === 1 && next.digits.length === 1)
}

/** Of a number of several groups. */
function isPart(digits: string): boolean {
  return digits.length >= 3 && digits.length <= 6
}

function isGap(written: string, last: DigitGroup, next: DigitGroup, place: number): boolean {
  if (written.length > 12) return false
  const between = written.replace(invisible, '')
  if (between === '') return true
  if (isReadOut(last, next)) {
    // "Oh, five five five …"
    const isExclamation = place === 1 && last.isSpoken && last.digits === '0' && between.startsWith(',')
    // A sentence ends after a number in digits.
    const isSentence =
      between.startsWith('.') && between.length > 1 && !last.isSpoken && last.digits.length > 1
    return spokenGap.test(between) && !isExclamation && !isSentence
  }
  const isPause = between === ', ' && isPart(last.digits) && isPart(next.digits)
  return isPause || writtenGap.test(between)
}
