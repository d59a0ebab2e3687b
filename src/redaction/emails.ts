import type { Work } from '../threads/time-slices.ts'
import type { Finding } from './kinds.ts'
import { matchesIn } from './matches.ts'

const localCharsMax = 64
const domainCharsMax = 255
const localEnd = new RegExp(`[\\p{L}\\p{N}.!#$%&'*+/=?^_\`{|}~-]{1,${localCharsMax}}$`, 'u')
const domain =
  /^[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,62}\.)(?:[\p{L}\p{N}][\p{L}\p{N}-]{0,62}\.){0,8}\p{L}[\p{L}\p{N}-]{1,62}/u
/** `at gmail dot com`, `at gmail.com`, `@ gmail dot com`. */
const spokenDomain =
  /(?:\bat[ ,]{1,2}|@[ ,]{0,2})[a-z0-9-]{1,63}(?:(?: (?:dot|period|point) |\.)[a-z][a-z0-9-]{1,62}){1,3}(?![a-z0-9])/gi
const dotted =
  /(?:dot|period|point|\.) ?(?:com|net|org|edu|gov|info|biz|io|co|ai|app|dev|me|eu|us|uk|ca|au|nz|ie|in|de|at|ch|fr|es|it|nl|be|pt|pl|se|no|dk|fi|jp|br|mx|za)$/i
const spokenLocalCharsMax = 120
const connector = /^(?:dot|period|point|underscore|dash|hyphen|minus|plus)$/i
const spelled = /^(?:[a-z]|\d+|zero|oh|one|two|three|four|five|six|seven|eight|nine|ten|double)[.,]?$/i
/** Words that an address follows. */
const cue = /^(?:is|it's|it’s|its|e-?mail|mail|address|to|be|as|use|at|under|via|through|me|him|her)[:,]?$/i
const cueWordsMax = 4
const providers =
  /^(?:at|@)[ ,]*(?:gmail|google ?mail|yahoo|hotmail|outlook|icloud|aol|proton|protonmail|live|msn|gmx|me|comcast)\b/i

/** The email addresses in a text, in any order: written, and spoken as in `john dot smith at gmail dot com`. */
export function* findEmails(text: string): Work<Finding[]> {
  const writtenFindings = yield* findWritten(text)
  const spokenFindings: Finding[] = []
  for (const match of matchesIn(text, spokenDomain)) {
    yield
    const one = match && spokenAt(text, match)
    if (one && !overlapsAny(writtenFindings, one)) spokenFindings.push(one)
  }
  return [...writtenFindings, ...spokenFindings]
}

/** Searches outward from each @, so that a long text without one costs nothing. */
function* findWritten(text: string): Work<Finding[]> {
  const findings: Finding[] = []
  for (let at = text.indexOf('@'); at >= 0; at = text.indexOf('@', at + 1)) {
    yield
    const local = localEnd
      .exec(text.slice(Math.max(0, at - localCharsMax), at))?.[0]
      .replace(/^[.'/=?&{|}*]+/, '')
    const host = domain.exec(text.slice(at + 1, at + 1 + domainCharsMax))?.[0]
    if (local && host) findings.push({ kind: 'email', start: at - local.length, end: at + 1 + host.length })
  }
  return findings
}

/** Whether a finding overlaps any of the others, which are sorted by their starts and by their ends. */
function overlapsAny(others: readonly Finding[], { start, end }: Finding): boolean {
  let [low, high] = [0, others.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((others[middle]?.end ?? 0) > start) high = middle
    else low = middle + 1
  }
  return (others[low]?.start ?? end) < end
}

function spokenAt(text: string, { 0: match, index = 0 }: RegExpMatchArray): Finding | null {
  if (!dotted.test(match)) return null
  const before = text.slice(Math.max(0, index - spokenLocalCharsMax), index)
  const chars = startOfLocal(before, providers.test(match))
  return chars === null ? null : { kind: 'email', start: index - chars, end: index + match.length }
}

/**
 * How many characters before `at` belong to the address: words joined by `dot` or `underscore`, single letters, and
 * whatever stands between these and a cue such as `is` or `email`. Null when nothing suggests an address, as in "I bought
 * it at amazon dot com".
 * @param before the text up to `at`
 * @param isProvider whether the domain is a mail provider's
 */
function startOfLocal(before: string, isProvider: boolean): number | null {
  const words = [...before.matchAll(/[^\s,]+,?/g)]
  let first = words.length - 1
  if (first < 0 || !/[\p{L}\p{N}_.+-]$/u.test(wordAt(words, first))) return null
  let isAddress = isProvider || /[._\d]/.test(wordAt(words, first))
  for (; first > 0; first--) {
    const [left, word] = [wordAt(words, first - 1), wordAt(words, first)]
    const isNumbered = spelled.test(word) && connector.test(wordAt(words, first - 2))
    const isJoined = connector.test(left) || connector.test(word) || isNumbered
    if (!isJoined && !(spelled.test(left) && spelled.test(word))) break
    isAddress = true
  }
  for (let at = first; at >= Math.max(0, first - cueWordsMax); at--) {
    // The address does not start in an earlier sentence.
    if (at < first && /[.?!]$/.test(wordAt(words, at))) break
    const isFirst = at === 0 && isProvider && before.length < spokenLocalCharsMax
    if (isFirst || cue.test(wordAt(words, at - 1))) return before.length - (words[at]?.index ?? 0)
  }
  return isAddress ? before.length - (words[first]?.index ?? 0) : null
}

function wordAt(words: readonly RegExpMatchArray[], at: number): string {
  return words[at]?.[0] ?? ''
}
