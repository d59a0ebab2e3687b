import { stemmer } from 'stemmer'

/**
 * What a keyword index takes for a text: compatibility forms resolved, and where a script puts no space between
 * words, overlapping pairs of characters instead, as Lucene's CJKAnalyzer does. A dictionary would cut more
 * sensibly, but another one in a query than in the text would find nothing.
 */
export function toIndexedWords(text: string): string {
  const finite = withoutExcess(text)
  if (isPlain(finite)) return finite
  return compose(finite).replace(unspacedRuns, (run) => ` ${[...pairsOf(run), lastOf(run)].join(' ')} `)
}

/** Lower case without compatibility forms and diacritics: `Ｃafé` becomes `cafe`. */
export function foldText(text: string): string {
  // Dashes and curly quotation marks, which many texts have, separate words like any others.
  if (!/[^\x00-\x7f\u2010-\u205e]/.test(text)) return text.toLowerCase()
  return withoutExcess(text).toLowerCase().normalize('NFKD').replace(diacritics, '').normalize('NFC')
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
  for (const [run] of compose(withoutExcess(query)).matchAll(/[\p{L}\p{N}\p{M}]+/gu)) {
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

/**
 * No language puts more than 30 marks on a letter, and normalising puts those of a letter in their order, in time
 * quadratic in their number: https://www.unicode.org/reports/tr15/#Stream_Safe_Text_Format
 */
function withoutExcess(text: string): string {
  return text.replace(unseenInWords, '').replace(endlessMarks, '$1')
}

/** Soft hyphens, which say where a word may be divided, and what keeps one together: it is the same word without. */
const unseenInWords = /[\u00ad\u2060\ufeff]+/g
const endlessMarks = /(\p{M}{30})\p{M}+/gu

function compose(text: string): string {
  const composed = text.normalize('NFKC').replace(variationSelectors, '')
  return composed.replace(optionallyMarked, (run) =>
    run.normalize('NFD').replace(diacritics, '').normalize('NFC'),
  )
}

/** Marks that writers of Latin, Greek, Cyrillic, Hebrew and Arabic may leave out. */
const diacritics =
  /[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670]+/g
/** Greek, Cyrillic, Hebrew and Arabic: of diacritics FTS5 removes those of Latin only. */
const optionallyMarked = /[\u0370-\u06ff\u1f00-\u1fff]+/g

/** What no step above would change: Latin, composed, and others without marks. */
function isPlain(text: string): boolean {
  return !/[^\x00-\u0dff]/.test(text) && compose(text) === text
}

/** Also kept alone, so that a query of one character finds it by its beginning wherever it stands. */
export function lastOf(run: string): string {
  return run.match(markedCharacters)?.at(-1) ?? run
}
