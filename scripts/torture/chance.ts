import { createRandom } from '../random.ts'

// Without vowels, y and s, so that the stemmer does not change the word.
const letters = 'bcdfghjklmnpqrtvwxz'
const vocabulary = 'refund order window caller invoice delivery holiday warranty hours'.split(' ')
const markerChars = 18
const phoneDigits = 15

/** Random choices that depend only on the seed. */
export class Chance {
  readonly #random: () => number

  constructor(seed: number) {
    this.#random = createRandom(seed)
  }

  /** A whole number from `min` to `max`, both included. */
  between(min: number, max: number): number {
    return min + Math.floor(this.#random() * (max - min + 1))
  }

  happens(share: number): boolean {
    return this.#random() < share
  }

  oneOf<Value>(values: readonly Value[]): Value | undefined {
    return values[this.between(0, values.length - 1)]
  }

  /** A word that occurs nowhere else. */
  marker(): string {
    return Array.from({ length: markerChars }, () => letters[this.between(0, letters.length - 1)]).join('')
  }

  /** Plain words around the marker, as paragraphs under headings. */
  text(marker: string, words: number): string {
    const parts = Array.from({ length: words }, (_, at) => {
      if (at % 90 === 0) return `\n\n## Part ${at / 90} ${marker}\n\n`
      return `${this.oneOf(vocabulary)}${this.between(1, 400)} `
    })
    return `About ${marker}.${parts.join('')}`
  }
}

/** A phone number that no other marker has. */
export function phoneNumberOf(marker: string): string {
  return Array.from(marker.slice(0, phoneDigits), (letter) => letters.indexOf(letter) % 10).join('')
}
