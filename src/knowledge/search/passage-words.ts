import type { ReadDatabase } from '../../db/reader.ts'
import { withoutLinks } from '../chunking/passage-text.ts'
import { type Passage, readPassages } from './passages.ts'
import { WordForms } from './word-forms.ts'

const keptBytesMax = 67_108_864
const bytesPerWord = 4
const bytesPerPassage = 200
const bytesPerForm = 300

/** A passage's words, and those of its item's name and its heading, as numbers of word forms. */
export interface WordedPassage {
  label: number
  itemSeq: number
  words: Uint32Array
  title: Uint32Array
}

/** The words of passages, and the forms that their numbers stand for. */
export class PassageWords {
  readonly forms = new WordForms()
  readonly #byLabel = new Map<number, WordedPassage>()
  #words = 0

  /** Returns about how much memory they take. */
  get bytes(): number {
    return this.#words * bytesPerWord + this.#byLabel.size * bytesPerPassage + this.forms.size * bytesPerForm
  }

  has(label: number): boolean {
    return this.#byLabel.has(label)
  }

  add({ label, itemSeq, name, heading, text }: Passage): void {
    if (this.has(label)) return
    const words = this.forms.read(withoutLinks(text))
    const title = this.forms.read(`${name} ${heading ?? ''}`)
    this.#byLabel.set(label, { label, itemSeq, words, title })
    this.#words += words.length + title.length
  }

  /** The passages that are there, in the order of the labels. */
  of(labels: readonly number[]): WordedPassage[] {
    return labels.flatMap((label) => this.#byLabel.get(label) ?? [])
  }
}

/**
 * Keeps the words of the passages that searches rank, because reading and splitting a text takes much longer than
 * looking through its words. A label is never reused, and its text never changes. Beyond the limit, all are dropped.
 */
export class KeptPassageWords {
  #words = new PassageWords()

  /** The words of at least these passages. */
  async with(read: ReadDatabase, projectId: number, labels: readonly number[]): Promise<PassageWords> {
    if (this.#words.bytes > keptBytesMax) this.#words = new PassageWords()
    // Another search may replace it meanwhile, but the numbers and the forms of one search must belong together.
    const words = this.#words
    const missing = labels.filter((label) => !words.has(label))
    if (missing.length === 0) return words
    const { passages } = await readPassages(read, projectId, missing)
    for (const passage of passages) words.add(passage)
    return words
  }
}
