import { clip, foldText, stemOf, wordsOf } from '../../text/words.ts'
import { functionWordsOf } from './function-words.ts'

/** Further terms are ignored. The longest query, of 2,000 characters, has about 300 words. */
const termsMax = 64

/** A word of a query in all its forms, or a pair of characters of a script without spaces. */
export interface Term {
  /** The word as it is written where it first occurs. */
  text: string
  folded: string
  stem: string
  /** Whether it is a single character of such a script, which stands for any pair that begins with it. */
  isPrefix: boolean
  /** Whether it only says how the question is put, as “how do I” does. */
  isFunctionWord: boolean
  /** Where it occurs in the query, in words from 0. */
  positions: number[]
}

/** The distinct terms of a query, in the order of their first occurrence. */
export function readTerms(query: string): Term[] {
  const terms = new Map<string, Term>()
  for (const [position, { text, isPrefix }] of wordsOf(query).entries()) {
    const folded = foldText(text)
    const stem = stemOf(clip(folded))
    const term = terms.get(stem)
    if (term) term.positions.push(position)
    else if (terms.size < termsMax)
      terms.set(stem, { text, folded, stem, isPrefix, isFunctionWord: false, positions: [position] })
  }
  const all = [...terms.values()]
  const functionWords = functionWordsOf(all.map(({ folded }) => folded))
  const showsNames = /(^|\s)\p{Ll}/u.test(query)
  for (const term of all)
    term.isFunctionWord = functionWords.has(term.folded) && !(showsNames && isName(term))
  return all
}

/** “US”, “WHO”, and the “The” of “The Office”, by their capitals. */
function isName({ text, positions: [first] }: Term): boolean {
  return /^\p{Lu}{2,}$/u.test(text) || (first !== 0 && text !== 'I' && /^\p{Lu}/u.test(text))
}
