import type { Term } from './query.ts'
import { isUnspaced, type WordForms } from './word-forms.ts'

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

/** What a word is to a query. */
interface Meaning {
  /** The index of the term that it mentions; -1 for none. */
  term: number
  /** Whether it is written as in the query, capitals included. */
  isCased: boolean
  /** The terms that it is similar to. */
  like: { index: number; likeness: number }[]
}

/** Finds a query's terms among the words of texts. */
export class TermMatcher {
  readonly #termsCount: number
  readonly #meanings: Meaning[] = []
  /** The place of each word form's meaning, from 1; 0 while it has none. */
  readonly #meaningOf: Uint16Array

  /**
   * @param terms at most `matchedTermsMax`
   * @param isCommon whether a term counts only in the form that the query has
   * @param forms those of all texts that will be read
   */
  constructor(terms: readonly Term[], isCommon: (index: number) => boolean, forms: WordForms) {
    this.#termsCount = terms.length
    this.#meaningOf = new Uint16Array(forms.size)
    for (const [index, term] of terms.entries()) {
      const isCased = (form: number) => !isUnspaced(term.folded) && forms.textOf(form).startsWith(term.text)
      for (const form of forms.variantsOf(term.folded))
        this.#mean(form, { term: index, isCased: isCased(form), like: [] })
    }
    const exactCount = this.#meanings.length
    for (const [index, term] of terms.entries()) {
      if (isCommon(index) && !isUnspaced(term.folded)) continue
      const { related, like } = forms.othersOf(term)
      // A word of the query itself is no other form of another one.
      const isOther = (form: number) =>
        (this.#meaningOf[form] ?? 0) === 0 || (this.#meaningOf[form] ?? 0) > exactCount
      for (const form of related) if (isOther(form)) this.#meaning(form).term = index
      for (const { form, likeness } of like)
        if (isOther(form)) this.#meaning(form).like.push({ index, likeness })
    }
  }

  read(words: Uint32Array): Mentions {
    const zeros = () => new Array<number>(this.#termsCount).fill(0)
    const mentions: Mentions = {
      words: words.length,
      places: [],
      terms: [],
      counts: zeros(),
      cased: 0,
      likeness: zeros(),
    }
    const meaningOf = this.#meaningOf
    for (let place = 0; place < words.length; place++) {
      const at = meaningOf[words[place] ?? 0] ?? 0
      const meaning = at === 0 ? undefined : this.#meanings[at - 1]
      if (meaning) note(meaning, place, mentions)
    }
    return mentions
  }

  #meaning(form: number): Meaning {
    const meaning = this.#meanings[(this.#meaningOf[form] ?? 0) - 1]
    return meaning ?? this.#mean(form, { term: -1, isCased: false, like: [] })
  }

  #mean(form: number, meaning: Meaning): Meaning {
    this.#meaningOf[form] = this.#meanings.push(meaning)
    return meaning
  }
}

function note({ term, isCased, like }: Meaning, place: number, mentions: Mentions): void {
  if (term >= 0) {
    mentions.places.push(place)
    mentions.terms.push(term)
    mentions.counts[term] = (mentions.counts[term] ?? 0) + 1
    if (isCased) mentions.cased |= 1 << term
  }
  for (const { index, likeness } of like)
    mentions.likeness[index] = Math.max(mentions.likeness[index] ?? 0, likeness)
}
