import { nextHash } from '../../text/hash.ts'
import {
  firstOf,
  foldText,
  lastOf,
  pairsOf,
  scripts,
  separator,
  spaced,
  stemOf,
  unspaced,
} from '../../text/words.ts'
import type { Term } from './query.ts'

/** Where a text mentions a query's terms. */
export interface Mentions {
  /** How many words the text has. */
  words: number
  /** For each mention: the index of the word in the text, ascending, and the index of the term. */
  places: number[]
  terms: number[]
  /** How often each term is mentioned. */
  counts: number[]
  /** Bits of the terms that occur exactly as written in the query, capitals included. */
  cased: number
  /** For each term, how similar the most similar other word is, 0 to 1: another form of it, or a typing error. */
  likeness: number[]
}

/** One bit of an integer for each term. */
export const matchedTermsMax = 31
const trigramSlotBits = 13
const wordSlotBits = 10
const likeCharsMin = 4
const stemCharsMin = 3
const UNDERSCORE = 0x5f

/**
 * Finds a query's terms in passages, in one pass over the characters. Words are compared by their trigrams (Dice's
 * coefficient). A table lists the terms of each trigram, so a word that shares none costs nothing more.
 */
export class TermMatcher {
  readonly #terms: readonly Term[]
  readonly #byFolded = new Map<string, number>()
  /** 1 at the hash of each term's folded form. A word with a 0 at its hash is no term and is not looked up. */
  readonly #mayBeTerm = new Uint8Array(1 << wordSlotBits)
  /** Bits of the terms that have a trigram, by the trigram's hash. */
  readonly #termsOfTrigram = new Int32Array(1 << trigramSlotBits)
  /** How many trigrams of the current word each term has. */
  readonly #shared: Int32Array
  readonly #stems = new Map<string, string>()

  /**
   * @param terms at most `matchedTermsMax`
   * @param isCommon whether a term counts only in the form that the query has
   */
  constructor(terms: readonly Term[], isCommon: (index: number) => boolean) {
    this.#terms = terms
    this.#shared = new Int32Array(terms.length)
    for (const [index, { folded }] of terms.entries()) {
      this.#byFolded.set(folded, index)
      this.#mayBeTerm[wordSlotOf(folded)] = 1
      const slots = isCommon(index) ? [] : trigramSlotsOf(folded)
      for (const slot of slots) this.#termsOfTrigram[slot] = (this.#termsOfTrigram[slot] ?? 0) | (1 << index)
    }
  }

  read(text: string): Mentions {
    const folded = foldText(text)
    // If folding changes the length, the offsets no longer match the original, and capitals are ignored.
    const original = folded.length === text.length ? text : folded
    const zeros = () => new Array<number>(this.#terms.length).fill(0)
    const mentions = { words: 0, places: [], terms: [], counts: zeros(), cased: 0, likeness: zeros() }
    for (let at = 0; at < folded.length; ) {
      const script = scripts[folded.charCodeAt(at)]
      if (script === separator) at++
      else if (script === unspaced) at = this.#readPairs(folded, at, mentions)
      else at = this.#readWord(folded, at, original, mentions)
    }
    return mentions
  }

  /** Returns where the word ends. */
  #readWord(folded: string, start: number, original: string, mentions: Mentions): number {
    const termsOfTrigram = this.#termsOfTrigram
    const first = folded.charCodeAt(start)
    let hash = nextHash(wordSeed, first)
    let trigram = nextTrigram(UNDERSCORE, first)
    let touched = 0
    let at = start + 1
    for (; at < folded.length; at++) {
      const code = folded.charCodeAt(at)
      if (scripts[code] !== spaced) break
      hash = nextHash(hash, code)
      trigram = nextTrigram(trigram, code)
      const terms = termsOfTrigram[slotOf(trigram)] ?? 0
      if (terms !== 0) touched |= this.#share(terms)
    }
    const last = termsOfTrigram[slotOf(nextTrigram(trigram, UNDERSCORE))] ?? 0
    if (last !== 0) touched |= this.#share(last)
    const exact =
      this.#mayBeTerm[wordSlot(hash)] === 1 ? this.#byFolded.get(folded.slice(start, at)) : undefined
    if (exact !== undefined) {
      this.#mention(exact, mentions)
      if (original.startsWith(this.#terms[exact]?.text ?? '', start)) mentions.cased |= 1 << exact
    } else if (touched !== 0) this.#compare(touched, folded.slice(start, at), mentions)
    if (touched !== 0) this.#shared.fill(0)
    mentions.words++
    return at
  }

  /** Counts a trigram for each term that has it. */
  #share(terms: number): number {
    for (let rest = terms; rest !== 0; rest &= rest - 1) {
      const index = 31 - Math.clz32(rest & -rest)
      this.#shared[index] = (this.#shared[index] ?? 0) + 1
    }
    return terms
  }

  /** @param touched bits of the terms that share a trigram with the word */
  #compare(touched: number, word: string, mentions: Mentions): void {
    for (let rest = touched; rest !== 0; rest &= rest - 1) {
      const index = 31 - Math.clz32(rest & -rest)
      const term = this.#terms[index]
      if (!term) continue
      if (this.#hasStem(word, term)) this.#mention(index, mentions)
      else if (word.length >= likeCharsMin && term.folded.length >= likeCharsMin) {
        // `_word_` has as many trigrams as the word has characters.
        const likeness = (2 * (this.#shared[index] ?? 0)) / (term.folded.length + word.length)
        mentions.likeness[index] = Math.max(mentions.likeness[index] ?? 0, Math.min(likeness, 1))
      }
    }
  }

  #hasStem(word: string, term: Term): boolean {
    // A stem is the beginning of its word, so words that begin differently have different stems.
    if (!word.startsWith(term.folded.slice(0, Math.min(stemCharsMin, word.length)))) return false
    const stem = this.#stems.get(word) ?? stemOf(word)
    this.#stems.set(word, stem)
    return stem === term.stem
  }

  /** Returns where the run of a script without spaces ends. */
  #readPairs(folded: string, start: number, mentions: Mentions): number {
    let end = start
    while (end < folded.length && scripts[folded.charCodeAt(end)] === unspaced) end++
    const run = folded.slice(start, end)
    const pairs = pairsOf(run)
    const last = lastOf(run)
    // The keyword index also holds the last character alone.
    if (pairs[0] !== last) pairs.push(last)
    for (const pair of pairs) {
      // A query of a single character matches any pair that begins with it.
      const index = this.#byFolded.get(pair) ?? this.#byFolded.get(firstOf(pair))
      if (index !== undefined) this.#mention(index, mentions)
      mentions.words++
    }
    return end
  }

  #mention(index: number, mentions: Mentions): void {
    mentions.places.push(mentions.words)
    mentions.terms.push(index)
    mentions.counts[index] = (mentions.counts[index] ?? 0) + 1
  }
}

/** Table slots of the trigrams of `_word_`: one for each character of the word. */
function trigramSlotsOf(word: string): Set<number> {
  const slots = new Set<number>()
  let trigram = nextTrigram(UNDERSCORE, word.charCodeAt(0))
  for (let at = 1; at <= word.length; at++) {
    trigram = nextTrigram(trigram, at < word.length ? word.charCodeAt(at) : UNDERSCORE)
    slots.add(slotOf(trigram))
  }
  return slots
}

/** Ten bits for each of the last three code units. Larger codes overlap and are mixed. */
function nextTrigram(trigram: number, code: number): number {
  return ((trigram << 10) ^ code) & 0x3fffffff
}

function slotOf(trigram: number): number {
  return Math.imul(trigram, 0x9e3779b1) >>> (32 - trigramSlotBits)
}

const wordSeed = 0x811c9dc5 | 0

function wordSlot(hash: number): number {
  return (hash ^ (hash >>> 15)) & ((1 << wordSlotBits) - 1)
}

function wordSlotOf(word: string): number {
  let hash = wordSeed
  for (let at = 0; at < word.length; at++) hash = nextHash(hash, word.charCodeAt(at))
  return wordSlot(hash)
}
