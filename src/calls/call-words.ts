import { foldText, stemOf, toIndexedWords, wordsOf } from '../text/words.ts'
import type { Call } from './schemas.ts'

/** Of a longer word only the beginning counts: nobody types more of it. */
const wordCharsMax = 64
const formsCachedMax = 50_000
/** Of the different words of one call: no conversation has as many, and more would hold up other writes for seconds. */
const callWordsCharsMax = 1_000_000
/** A single letter would be the beginning of nearly everything. */
const beginningCharsMin = 2

/**
 * The words that a call is found by: those of its transcript and its summary, each once, as written and, where that
 * is another, as its stem. What FTS5 would make of the text by itself has stems only, and a word that is still being
 * typed cannot be looked up among stems: `bus` is stemmed to `bu`, which `but` begins with.
 */
export class CallWords {
  /** A word's forms by the word: the same few thousand come again and again. */
  readonly #forms = new Map<string, string>()

  of({ summary, transcript }: Pick<Call, 'summary' | 'transcript'>): string {
    const text = `${summary ?? ''}\n${transcript.map(({ content }) => content).join('\n')}`
    let words = ''
    for (const word of new Set(foldedWords(text))) {
      words += `${this.#formsOf(word)} `
      if (words.length >= callWordsCharsMax) break
    }
    return words
  }

  #formsOf(word: string): string {
    const known = this.#forms.get(word)
    if (known !== undefined) return known
    const clipped = clip(word)
    const stem = stemOf(clipped)
    const forms = stem === clipped ? clipped : `${clipped} ${stem}`
    if (this.#forms.size >= formsCachedMax) this.#forms.clear()
    this.#forms.set(word, forms)
    return forms
  }
}

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

/** As the query's words are cut and folded. */
function foldedWords(text: string): string[] {
  // Dashes and curly quotation marks, which many texts have, separate words like any others.
  if (!/[^\x00-\x7f\u2010-\u205e]/.test(text)) return text.toLowerCase().match(/[a-z0-9]+/g) ?? []
  return indexedWords(text).map(foldText)
}

/** The words of a text, or the pairs of characters where words are not separated, as a keyword index has them. */
export function indexedWords(text: string): string[] {
  return toIndexedWords(text).match(/[\p{L}\p{N}\p{M}]+/gu) ?? []
}

function clip(word: string): string {
  return word.length <= wordCharsMax ? word : word.slice(0, wordCharsMax).toWellFormed()
}
