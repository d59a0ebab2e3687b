import type { Call } from '../schemas.ts'
import type { SearchedWord } from './word-query.ts'

/** A call's numbers. */
export type Numbers = Pick<Call, 'callerNumber' | 'calledNumber'>

/**
 * The words that a call is found by for its numbers: the digits of each, forwards and backwards. No text has such words,
 * since an arrow is no letter.
 */
export function numberWords({ callerNumber, calledNumber }: Numbers): string {
  const numbers = new Set(
    [callerNumber, calledNumber].flatMap((number) => {
      const text = headText(number)
      return text === null ? [] : digitsOf(text)
    }),
  )
  return [...numbers].map((digits) => `${forwards(digits)} ${backwards(digits)} `).join('')
}

/** The word of the numbers with these digits, without separators. */
export function hasDigits(digits: string): SearchedWord {
  return { stem: forwards(digits), beginning: null }
}

/** The words of the numbers that begin with these digits. */
export function beginsWithDigits(digits: string): SearchedWord {
  return { stem: forwards(digits), beginning: forwards(digits) }
}

/** The words of the numbers that end with these digits. */
export function endsWithDigits(digits: string): SearchedWord {
  return { stem: backwards(digits), beginning: backwards(digits) }
}

function forwards(digits: string): string {
  return `→${spelled(digits)}`
}

function backwards(digits: string): string {
  return `←${spelled([...digits].reverse().join(''))}`
}

/** Other characters might separate words: FTS5 gets their codes, after a letter. */
function spelled(text: string): string {
  return text.replace(/\D/g, (character) => `x${character.charCodeAt(0).toString(16)}`)
}

/** Characters of a text that the head row keeps; the document holds all of it. */
const headTextCharsMax = 200

/** The start of a text that the head row keeps and that filters compare. */
export function headText(text: string | null): string | null {
  return text === null ? null : text.slice(0, headTextCharsMax).toWellFormed()
}

/** A number without separators, as the columns of digits have it. */
export function digitsOf(number: string): string {
  return number.replace(/[ +\-()./]/g, '')
}
