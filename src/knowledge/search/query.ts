import { foldText, stemOf, wordsOf } from '../../text/words.ts'

/** Of a longer query the rest is not looked up: two thousand characters hold some three hundred words. */
const termsMax = 64

/** A word of a query, in whatever form it was written, or a pair of characters where words are not separated. */
export interface Term {
  /** As it was written first. */
  text: string
  folded: string
  stem: string
  /** As FTS5 takes it: quoted, so that its own syntax is text like any other. */
  match: string
  /** Which words of the query these are, counted from 0. */
  positions: number[]
}

/** The distinct terms of a query, in the order in which they come first. */
export function readTerms(query: string): Term[] {
  const terms = new Map<string, Term>()
  for (const [position, { text, isPrefix }] of wordsOf(query).entries()) {
    const folded = foldText(text)
    const stem = stemOf(folded)
    const known = terms.get(stem)
    if (known) known.positions.push(position)
    else if (terms.size < termsMax) {
      const match = isPrefix ? `"${text}"*` : `"${text}"`
      terms.set(stem, { text, folded, stem, match, positions: [position] })
    }
  }
  return [...terms.values()]
}
