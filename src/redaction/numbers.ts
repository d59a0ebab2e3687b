import type { CountryCode } from 'libphonenumber-js/max'
import { isCard } from './cards.ts'
import { type DigitGroup, digitRuns } from './digits.ts'
import { isPhone, isPhoneAbroad } from './phones.ts'
import type { Found } from './redact.ts'

/** What stands before a number is read this far back. */
const contextCharsMax = 56
/** Shorter runs are no number that is looked for. */
const digitsMin = 7
/** The longest card number. */
const digitsMax = 19
/** In a longer run only what its digits alone prove is looked for, so that it takes linear time. */
const groupsMax = 64

interface NumbersOptions {
  country: CountryCode | null
  label: string
  /** What was found already: no number reaches into it, and none is judged by what stands before it. */
  others: readonly Found[]
}

/** Some groups of a run, as one number. */
export interface NumberSpan {
  groups: readonly DigitGroup[]
  digits: string
  /** How many digits the groups have, such as `3-3-4`; those read out one at a time count as said between pauses. */
  shape: string
  isSpoken: boolean
  /** Whether nothing follows in its run. */
  isLast: boolean
  /** What stands before it: up to 56 characters, from the last number, mark or address on. */
  before: string
  after: string
}

/** Phone numbers, card numbers and US social-security numbers of a text, written or spoken. */
export function findNumbers(text: string, { country, label, others }: NumbersOptions): Found[] {
  const found: Found[] = []
  let from = 0
  let next = 0
  for (const run of digitRuns(text)) {
    for (; (others[next]?.start ?? Infinity) < (run.at(-1)?.end ?? 0); next++) from = others[next]?.end ?? from
    const groups = run.filter(({ start }) => start >= from && !others.some((o) => o.start <= start && start < o.end))
    if (digitsOf(groups).length < digitsMin) continue
    for (let at = 0; at < groups.length; ) {
      const one = longestAt(text, groups, { at, from, country, label })
      if (one) {
        found.push(one.found)
        from = one.found.end
      }
      at += one?.groups ?? 1
    }
  }
  return found
}
