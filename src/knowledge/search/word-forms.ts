import { LRUCache } from 'lru-cache'
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

const likeCharsMin = 4
const likenessMin = 0.45
const stemCharsMin = 3
const trigramSlotBits = 13
const UNDERSCORE = 0x5f
const cachedTermsMax = 5_000

/** A word as texts write it, or a pair of characters of a script without spaces. */
interface WordForm {
  text: string
  folded: string
  /** The form before it that differs in capitals only; -1 for none. */
  before: number
}

/** Forms that are not a term, but have to do with it. */
interface OtherForms {
  /** How many forms they were chosen from. */
  size: number
  /** Words with its stem. For a single character of a script without spaces: the pairs that begin with it. */
  related: number[]
  /** Other forms of it, or typing errors, and how similar each is, `likenessMin` to 1. */
  like: { form: number; likeness: number }[]
}

/**
 * The word forms of many texts, each with a number, and indexed by trigram. So a query's terms are compared with each
 * form once, however many texts have it.
 */
export class WordForms {
  readonly #forms: WordForm[] = []
  /** The last form of each folded form. */
  readonly #last = new Map<string, number>()
  /** Forms by the hash of each trigram of `_word_`, ascending. */
  readonly #byTrigram = new Map<number, number[]>()
  /** Pairs by their first character. */
  readonly #byFirst = new Map<string, number[]>()
  readonly #others = new LRUCache<string, OtherForms>({ max: cachedTermsMax })
  /** How many trigrams each form shares with a term; all 0 between two terms. */
  #shared = new Uint16Array(1_024)

  get size(): number {
    return this.#forms.length
  }

  textOf(form: number): string {
    return this.#forms[form]?.text ?? ''
  }

  /** The words of a text as forms, in order. */
  read(text: string): Uint32Array {
    const foldedText = foldText(text)
    // If folding changes the length, the offsets no longer match the original, and capitals are ignored.
    const original = foldedText.length === text.length ? text : foldedText
    const words: number[] = []
    for (let at = 0; at < foldedText.length; ) {
      const start = at++
      const script = scripts[foldedText.charCodeAt(start)]
      if (script === separator) continue
      while (at < foldedText.length && scripts[foldedText.charCodeAt(at)] === script) at++
      const run = foldedText.slice(start, at)
      if (script === spaced) words.push(this.#numberOf(original.slice(start, at), run))
      else for (const pair of indexedPairs(run)) words.push(this.#numberOf(pair, pair))
    }
    return Uint32Array.from(words)
  }

  /** The forms of a folded word. */
  variantsOf(folded: string): number[] {
    const variants: number[] = []
    for (let form = this.#last.get(folded) ?? -1; form >= 0; form = this.#forms[form]?.before ?? -1)
      variants.push(form)
    return variants
  }

  othersOf(term: Term): OtherForms {
    const { folded } = term
    if (isUnspaced(folded)) return { size: this.size, related: this.#byFirst.get(folded) ?? [], like: [] }
    const others = this.#others.get(folded) ?? { size: 0, related: [], like: [] }
    if (others.size < this.size) this.#compare(term, others)
    this.#others.set(folded, others)
    return others
  }

  #numberOf(text: string, folded: string): number {
    const last = this.#last.get(folded) ?? -1
    for (let form = last; form >= 0; form = this.#forms[form]?.before ?? -1) {
      if (this.#forms[form]?.text === text) return form
    }
    // Copies, because a slice would keep the whole text in memory.
    const copy = [...folded].join('')
    const form =
      this.#forms.push({ text: text === folded ? copy : [...text].join(''), folded: copy, before: last }) - 1
    this.#last.set(copy, form)
    this.#index(form, copy)
    return form
  }

  #index(form: number, folded: string): void {
    if (isUnspaced(folded)) {
      const first = firstOf(folded)
      const pairs = this.#byFirst.get(first)
      if (pairs) pairs.push(form)
      else this.#byFirst.set(first, [form])
    } else
      for (const slot of trigramSlotsOf(folded)) {
        const forms = this.#byTrigram.get(slot)
        if (forms) forms.push(form)
        else this.#byTrigram.set(slot, [form])
      }
  }

  /** Compares the term with the newer forms that share trigrams with it (Dice's coefficient). */
  #compare(term: Term, others: OtherForms): void {
    const { folded, stem } = term
    const { size: from, related, like } = others
    if (this.#shared.length < this.size) this.#shared = new Uint16Array(this.size * 2)
    const sharedCounts = this.#shared
    const near: number[] = []
    // Words with fewer trigrams in common are neither of one stem nor similar.
    const sharedMin = folded.length > 2 ? 2 : 1
    for (const slot of new Set(trigramSlotsOf(folded))) {
      const forms = this.#byTrigram.get(slot) ?? []
      for (let at = forms.length - 1; at >= 0 && (forms[at] ?? 0) >= from; at--) {
        const form = forms[at] ?? 0
        sharedCounts[form] = (sharedCounts[form] ?? 0) + 1
        if (sharedCounts[form] === sharedMin) near.push(form)
      }
    }
    for (const form of near) {
      const word = this.#forms[form]?.folded ?? ''
      if (word === folded) continue
      // `_word_` has as many trigrams as the word has characters.
      const likeness = Math.min(1, (2 * (sharedCounts[form] ?? 0)) / (folded.length + word.length))
      if (hasStem(word, term)) related.push(form)
      else if (likeness >= likenessMin && Math.min(folded.length, word.length) >= likeCharsMin)
        like.push({ form, likeness })
    }
    // A word of two letters is its own stem, and may have fewer trigrams in common.
    if (stem.length === 2 && stem !== folded && folded.startsWith(stem))
      related.push(...this.variantsOf(stem).filter((form) => form >= from))
    sharedCounts.fill(0, from)
    others.size = this.size
  }
}

/** Whether a folded word is of a script without spaces. */
export function isUnspaced(folded: string): boolean {
  return scripts[folded.charCodeAt(0)] === unspaced
}

/** The keyword index also holds the last character alone. */
function indexedPairs(run: string): string[] {
  const pairs = pairsOf(run)
  const last = lastOf(run)
  return pairs[0] === last ? pairs : [...pairs, last]
}

function hasStem(word: string, { folded, stem }: Term): boolean {
  // A stem is the beginning of its word, so words that begin differently have different stems.
  for (let at = 0; at < stemCharsMin && at < word.length; at++) {
    if (word.charCodeAt(at) !== folded.charCodeAt(at)) return at >= folded.length && stemOf(word) === stem
  }
  return stemOf(word) === stem
}

/** Slots of the trigrams of `_word_`: one for each character of the word. */
function trigramSlotsOf(word: string): number[] {
  const slots: number[] = []
  let trigram = nextTrigram(UNDERSCORE, word.charCodeAt(0))
  for (let at = 1; at <= word.length; at++) {
    trigram = nextTrigram(trigram, at < word.length ? word.charCodeAt(at) : UNDERSCORE)
    slots.push(Math.imul(trigram, 0x9e3779b1) >>> (32 - trigramSlotBits))
  }
  return slots
}

/** Ten bits for each of the last three code units. Larger codes overlap and are mixed. */
function nextTrigram(trigram: number, code: number): number {
  return ((trigram << 10) ^ code) & 0x3fffffff
}
