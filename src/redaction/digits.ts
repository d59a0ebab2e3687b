import { matchesIn } from './matches.ts'

/** Adjacent digits in a text, written or spoken: `4155`, `four`, `double seven`, `twenty six`. */
export interface DigitGroup {
  start: number
  end: number
  digits: string
  isSpoken: boolean
}

const zeros = ['oh', 'o', 'nought', 'naught']
const units = ['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine']
const teens = 'ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen'.split(' ')
const tens = ['twenty', 'thirty', 'forty', 'fifty', 'sixty', 'seventy', 'eighty', 'ninety']
const values = new Map<string, string>([
  ...units.map((word, value) => [word, `${value}`] as const),
  ...zeros.map((word) => [word, '0'] as const),
  ...teens.map((word, value) => [word, `${10 + value}`] as const),
  ...tens.map((word, value) => [word, `${2 + value}0`] as const),
])

const digit = [...units, ...zeros].join('|')
const unit = units.slice(1).join('|')
/** Regular expression source that matches any number word. */
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

/**
 * What may stand between two written groups of one number. Not a comma, which separates thousands, and not a full stop
 * with a space, which ends a sentence.
 */
const writtenGap = /^(?:[ \u00a0\u202f]{1,2}|\.| ?[-‐‑–—()] ?|\) ?[-–—]? ?| \()$/
/** Soft hyphens and zero-width characters. */
const invisible = /[\u00ad\u200b-\u200f\u2060\ufeff]/g
const spokenGap =
  /^(?:[ ,.;…–—-]{1,4}|[ ,]{0,2}(?:dash|hyphen|dot|point|space|uh|um|and then|then)[ ,]{0,2})$/i

/** Consecutive groups of digits: one number or several. A long run is split into parts that overlap. */
export interface DigitRun {
  /** The first group of the whole run. */
  first: DigitGroup
  groups: DigitGroup[]
  /** Numbers may start at the groups from here … */
  from: number
  /** … up to here, exclusive. */
  until: number
  /** Whether this is a part of a long run. */
  isPart: boolean
}

const groupsPerPartMax = 1_024
/** The longest number, a card, when each digit is a group of its own. */
const groupsPerNumberMax = 19

/** The runs of digit groups in a text. Yields undefined now and then, where the caller may pause. */
export function* digitRuns(text: string): Generator<DigitRun | undefined> {
  let groups: DigitGroup[] = []
  let first: DigitGroup | undefined
  let from = 0
  let place = 0
  for (const match of matchesIn(text, group)) {
    yield undefined
    if (!match) continue
    const next = toGroup(match)
    const last = groups.at(-1)
    if (first && last && !isGap(text.slice(last.end, next.start), last, next, place)) {
      yield { first, groups, from, until: groups.length, isPart: place > groups.length }
      groups = []
      from = 0
      place = 0
    } else if (first && groups.length === groupsPerPartMax) {
      const until = groups.length - groupsPerNumberMax
      yield { first, groups, from, until, isPart: true }
      // Keeps the group before the next start: whether they belong to one chunk depends on it.
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
 * The lengths of a number's chunks, such as `[3, 3, 4]`. Groups that are read out one after the other form one chunk; a
 * pause, written as a comma or a dash, ends it.
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

function toGroup({ 0: text, index: start = 0, groups: parts = {} }: RegExpMatchArray): DigitGroup {
  const at = { start, end: start + text.length }
  const { times, repeated, hundreds, ten, one, word } = parts
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

/** Whether two groups are read out digit by digit: one of them is spoken, or both are single digits. */
function isReadOut(last: DigitGroup, next: DigitGroup): boolean {
  return last.isSpoken || next.isSpoken || (last.digits.length === 1 && next.digits.length === 1)
}

function isGap(separator: string, last: DigitGroup, next: DigitGroup, place: number): boolean {
  if (separator.length > 12) return false
  const between = separator.replace(invisible, '')
  if (between === '') return true
  if (isReadOut(last, next)) {
    // "Oh, five five five …"
    const isExclamation = place === 1 && last.isSpoken && last.digits === '0' && between.startsWith(',')
    // A full stop after a written number ends a sentence.
    const isSentence =
      between.startsWith('.') && between.length > 1 && !last.isSpoken && last.digits.length > 1
    return spokenGap.test(between) && !isExclamation && !isSentence
  }
  const isPause = between === ', ' && [last, next].every(({ digits }) => /^\d{3,6}$/.test(digits))
  return isPause || writtenGap.test(between)
}
