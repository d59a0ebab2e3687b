import { foldText, stemOf, toIndexedWords } from '../text/words.ts'
import type { Call } from './schemas.ts'

/** Only the first characters of a longer word are indexed. */
const wordCharsMax = 64
const formsCachedMax = 50_000
/** The distinct words of one call: no conversation has more, and indexing more would delay other writes by seconds. */
const callWordsCharsMax = 1_000_000

/**
 * The words that a call is found by: those of its transcript and its summary, each once, as written and as its stem.
 * FTS5 alone would keep only stems, and a word that is still being typed cannot be looked up among stems: `bus` is
 * stemmed to `bu`, which is also the beginning of `but`.
 */
export class CallWords {
  /** The forms of each word: calls use the same few thousand words. */
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

/** The part of a word that is indexed and searched for. */
export function clip(word: string): string {
  return word.length <= wordCharsMax ? word : word.slice(0, wordCharsMax).toWellFormed()
}
