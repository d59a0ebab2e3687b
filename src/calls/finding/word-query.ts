import { clip, foldText, stemOf, wordsOf } from '../../text/words.ts'

/** A single letter would match nearly every call. */
const beginningCharsMin = 2

/** A word that a call must have: with this stem, or with this beginning, if it is still being typed. */
export interface SearchedWord {
  stem: string
  beginning: string | null
}

/** The words that a call must have, each in any of its forms. */
export interface WordQuery {
  /** As it was written. */
  text: string
  words: SearchedWord[]
  /** How many different words there are. */
  terms: number
  /** The index of the query's word that matches a word of a text; -1 for none. */
  termOf: (folded: string) => number
}

/** The quoted phrases of at least two words. */
export function phrasesOf(text: string): string[] {
  return [...text.matchAll(/["“”]([^"“”]+)["“”]/g)]
    .map(([, phrase = '']) => phrase.trim().replace(/\s+/g, ' '))
    .filter((phrase) => phrase.includes(' '))
}

/** Null if the text has no word. The last word is also a prefix, since it may still be being typed. */
export function readWordQuery(text: string): WordQuery | null {
  const words = wordsOf(text)
    .map(({ text, isPrefix }) => ({ folded: clip(foldText(text)), isPrefix }))
    // An accent alone is not a word.
    .filter(({ folded }) => folded !== '')
  const last = words.at(-1)
  if (!last) return null
  const beginning = last.isPrefix || last.folded.length >= beginningCharsMin ? last.folded : null
  const stems = new Map<string, number>()
  for (const { folded } of words.slice(0, -1)) {
    const stem = stemOf(folded)
    if (!stems.has(stem)) stems.set(stem, stems.size)
  }
  const before = [...stems.keys()].map((stem): SearchedWord => ({ stem, beginning: null }))
  const lastStem = stemOf(last.folded)
  const lastTerm = stems.get(lastStem) ?? stems.size
  stems.set(lastStem, lastTerm)
  const terms = new Map<string, number>()
  const termOfForm = (form: string) =>
    stems.get(form) ?? (beginning !== null && form.startsWith(beginning) ? lastTerm : null)
  const termOf = (word: string) => termOfForm(stemOf(word)) ?? termOfForm(word) ?? -1
  return {
    text,
    words: [...before, { stem: lastStem, beginning }],
    terms: stems.size,
    termOf: (folded) => {
      const known = terms.get(folded) ?? termOf(clip(folded))
      terms.set(folded, known)
      return known
    },
  }
}
