import { withoutLinks } from '../chunking/links.ts'
import type { Passage } from './passages.ts'
import { WordForms } from './word-forms.ts'

const keptBytesMax = 33_554_432
const bytesPerWord = 4
const bytesPerPassage = 200
const bytesPerForm = 300

/** The words of a passage, and those of its item's name and its heading, as numbers of word forms. */
export interface ReadPassage {
  words: Uint32Array
  title: Uint32Array
}

/**
 * The words of the passages that searches have read: to split a text into words takes much longer than to look through
 * them. A label is never reused, and its texts never change. When they become too many, all are forgotten.
 */
export class PassageWords {
  #forms = new WordForms()
  #read = new Map<number, ReadPassage>()
  #words = 0

  /** The passages in the same order, with the forms that their numbers stand for. */
  read(passages: readonly Passage[]): { forms: WordForms; read: ReadPassage[] } {
    // Only here, so that all numbers of one answer are of the same forms.
    if (this.#bytes > keptBytesMax) this.#forget()
    return { forms: this.#forms, read: passages.map((passage) => this.#of(passage)) }
  }

  get #bytes(): number {
    return this.#words * bytesPerWord + this.#read.size * bytesPerPassage + this.#forms.size * bytesPerForm
  }

  #of({ label, name, heading, text }: Passage): ReadPassage {
    const known = this.#read.get(label)
    if (known) return known
    const words = this.#forms.read(withoutLinks(text))
    const read = { words, title: this.#forms.read(`${name} ${heading ?? ''}`) }
    this.#read.set(label, read)
    this.#words += words.length + read.title.length
    return read
  }

  #forget(): void {
    this.#forms = new WordForms()
    this.#read = new Map()
    this.#words = 0
  }
}
