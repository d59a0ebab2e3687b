import { foldText, stemOf, wordsOf } from '../text/words.ts'
import { clip } from './call-words.ts'

/** A single letter would be the beginning of nearly everything. */
const beginningCharsMin = 2

/** What a call must have to be found: all of the words, each in any of its forms. */
export interface WordQuery {
  /** As FTS5 takes it; every word is quoted, so that its own syntax is text like any other. */
  match: string
  /** How many different words there are. */
  terms: number
  /** Which word a word of a text is found by, counted from 0; -1 when by none. */
  termOf: (folded: string) => number
}

/** Null when the text has no word. The last word may be the beginning of one: it is still being typed. */
export function readWordQuery(text: string): WordQuery | null {
  const words = wordsOf(text)
    .map(({ text, isPrefix }) => ({ folded: clip(foldText(text)), isPrefix }))
    // An accent that stands alone is nothing without its letter.
    .filter(({ folded }) => folded !== '')
  const last = words.at(-1)
  if (!last) return null
  const beginning = last.isPrefix || last.folded.length >= beginningCharsMin ? last.folded : null
  const stems = new Map<string, number>()
  for (const { folded } of words.slice(0, -1)) {
    const stem = stemOf(folded)
    if (!stems.has(stem)) stems.set(stem, stems.size)
  }
  const whole = [...stems.keys()].map((stem) => `"${stem}"`)
  const lastStem = stemOf(last.folded)
  const lastTerm = stems.get(lastStem) ?? stems.size
  stems.set(lastStem, lastTerm)
  const matchOfLast = beginning === null ? `"${lastStem}"` : `("${beginning}"* OR "${lastStem}")`
  const terms = new Map<string, number>()
  const termOfForm = (form: string) =>
    stems.get(form) ?? (beginning !== null && form.startsWith(beginning) ? lastTerm : null)
  const termOf = (word: string) => termOfForm(stemOf(word)) ?? termOfForm(word) ?? -1
  return {
    match: [...whole, matchOfLast].join(' AND '),
    terms: stems.size,
    termOf: (folded) => {
      const known = terms.get(folded) ?? termOf(clip(folded))
      terms.set(folded, known)
      return known
    },
  }
}
