import { clip, foldText, stemOf, wordsOf } from '../../text/words.ts'

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
    else if (terms.size < termsMax) terms.set(stem, { text, folded, stem, isPrefix, positions: [position] })
  }
  return [...terms.values()]
}
