import { clip, foldText, indexedWords, stemOf } from '../../text/words.ts'
import type { Call } from '../schemas.ts'
import { type Numbers, numberWords } from './number-words.ts'

/** The size of the table of known words, a power of two. */
const knownMax = 65_536
/** The distinct words of one call: no conversation has more, and indexing more would delay other writes by seconds. */
const callWordsCharsMax = 1_000_000

/**
 * The words that a call is found by: those of its transcript and summary, each once, as written and as its stem, and
 * those of its numbers. A word that is still being typed cannot be looked up among stems: that of `bus` is `bu`, with which `but` begins, too.
 */
export class CallWords {
  /** Known words by hash. Calls use the same few thousand words; a regular expression and a set take twice as long. */
  readonly #known = new Array<KnownWord | undefined>(knownMax)
  #calls = 0

  /** With a space before and after each word. */
  of({ summary, transcript, ...numbers }: Texts & Numbers): string {
    const text = `${summary ?? ''}\n${transcript.map(({ content }) => content).join('\n')}`
    const folded = isPlain(text) ? text.toLowerCase() : indexedWords(text).map(foldText).join(' ')
    return this.#wordsOf(`${folded} `) + numberWords(numbers)
  }

  /** @param text folded, with a separator at its end */
  #wordsOf(text: string): string {
    const call = ++this.#calls
    let words = ' '
    let start = 0
    let hash = 0
    for (let end = 0; end < text.length && words.length < callWordsCharsMax; end++) {
      const code = text.charCodeAt(end)
      if (isOfWord(code)) {
        hash = (Math.imul(hash, 31) + code) | 0
        continue
      }
      if (end > start) {
        const known = this.#find(text, start, end, hash)
        if (known.lastCall !== call) words += known.forms
        known.lastCall = call
      }
      start = end + 1
      hash = 0
    }
    return words
  }

  #find(text: string, start: number, end: number, hash: number): KnownWord {
    const slot = (hash ^ (hash >>> 16)) & (knownMax - 1)
    const known = this.#known[slot]
    if (known?.word.length === end - start && text.startsWith(known.word, start)) return known
    const word = text.slice(start, end)
    const clipped = clip(word)
    const stem = stemOf(clipped)
    const forms = stem === clipped ? `${clipped} ` : `${clipped} ${stem} `
    // A word that shares its slot with another may be returned twice, which does no harm.
    const found = { word, forms, lastCall: 0 }
    this.#known[slot] = found
    return found
  }
}

type Texts = Pick<Call, 'summary' | 'transcript'>

interface KnownWord {
  readonly word: string
  /** The word as written and its stem, each with a space. */
  readonly forms: string
  /** The number of the last call that had it. */
  lastCall: number
}

/** Whether a text has only ASCII letters, so that it needs no folding. */
function isPlain(text: string): boolean {
  // Dashes and curly quotation marks, which many texts have, separate words like any others.
  return !/[^\x00-\x7f\u2010-\u205e]/.test(text)
}

/** Whether a code unit of plain lower-case text, or of folded words separated by spaces, is part of a word. */
function isOfWord(code: number): boolean {
  if (code < 0x80) return (code >= 0x61 && code <= 0x7a) || (code >= 0x30 && code <= 0x39)
  return code < 0x2010 || code > 0x205e
}
