import { stemmer } from 'stemmer'

/**
 * What a keyword index takes for a text: compatibility forms resolved, and where a script puts no space between
 * words, overlapping pairs of characters instead, as Lucene's CJKAnalyzer does. A dictionary would cut more
 * sensibly, but another one in a query than in the text would find nothing.
 */
export function toIndexedWords(text: string): string {
  if (isPlain(text)) return text
  return compose(text).replace(unspacedRuns, (run) => ` ${[...pairsOf(run), lastOf(run)].join(' ')} `)
}

/** Lower case without compatibility forms and diacritics: `Ｃafé` becomes `cafe`. */
export function foldText(text: string): string {
  // Dashes and curly quotation marks, which many texts have, separate words like any others.
  if (!/[^\x00-\x7f\u2010-\u205e]/.test(text)) return text.toLowerCase()
  const marks = /[\u0300-\u036f]+/g
  return text.toLowerCase().normalize('NFKD').replace(marks, '').normalize('NFC')
}

/** Porter's stem (https://tartarus.org/martin/PorterStemmer), as keyword indexes use it, of a folded word. */
export function stemOf(folded: string): string {
  return stemmer(folded)
}

/** A word of a query, or a pair of characters where words are not separated. */
export interface Word {
  /** As it was written. */
  text: string
  /** A single character of such a script, which may begin any pair. */
  isPrefix: boolean
}

/** The words of a query in their order. */
export function wordsOf(query: string): Word[] {
  const words: Word[] = []
  for (const [run] of compose(query).matchAll(/[\p{L}\p{N}\p{M}]+/gu)) {
    for (const part of run.split(splitAtUnspaced)) {
      if (part === '') continue
      if (!startsUnspaced.test(part)) {
        words.push({ text: part, isPrefix: false })
        continue
      }
      const last = lastOf(part)
      for (const text of pairsOf(part)) words.push({ text, isPrefix: text === last })
    }
  }
  return words
}

/** Each character with its neighbour, marks staying with what they mark; a single character alone. */
export function pairsOf(run: string): string[] {
  const characters = run.match(markedCharacters) ?? []
  if (characters.length < 2) return characters
  return characters.slice(1).map((character, index) => `${characters[index]}${character}`)
}

export const separator = 0
export const spaced = 1
export const unspaced = 2

// Korean has spaces, but glues its particles to the words before them.
const unspacedScripts =
  '[\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Hangul}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}ー]'
const unspacedRuns = new RegExp(`(?:${unspacedScripts}\\p{M}*)+`, 'gu')
const splitAtUnspaced = new RegExp(`((?:${unspacedScripts}\\p{M}*)+)`, 'u')
const startsUnspaced = new RegExp(`^${unspacedScripts}`, 'u')
const markedCharacters = /\P{M}\p{M}*|\p{M}+/gu
/** They choose a glyph, as for an emoji in colour, and would stick to the word beside them. */
const variationSelectors = /\p{Variation_Selector}+/gu

/** For every code unit, since a text has many: whether it separates words, belongs to one, or to such a script. */
export const scripts = Uint8Array.from({ length: 0x10000 }, (_, code) => {
  // Half of a character: mostly ideographs and emoji.
  if (code >= 0xd800 && code < 0xe000) return unspaced
  const character = String.fromCharCode(code)
  if (!/[\p{L}\p{N}\p{M}]/u.test(character) || /\p{Variation_Selector}/u.test(character)) return separator
  return startsUnspaced.test(character) ? unspaced : spaced
})

function compose(text: string): string {
  return text.normalize('NFKC').replace(variationSelectors, '')
}

/** What no step above would change: Latin, Greek, Cyrillic and others, composed. */
function isPlain(text: string): boolean {
  return !/[^\x00-\u0dff]/.test(text) && text.normalize('NFKC') === text
}

/** Also kept alone, so that a query of one character finds it by its beginning wherever it stands. */
export function lastOf(run: string): string {
  return run.match(markedCharacters)?.at(-1) ?? run
}
