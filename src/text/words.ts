import { stemmer } from 'stemmer'
import { unspacedScripts } from './unspaced-scripts.ts'

/**
 * What the keyword index stores for a text: compatibility forms are resolved, and scripts without spaces between words
 * become overlapping pairs of characters, as in Lucene's CJKAnalyzer. A dictionary would split better, but a query
 * split by another version of it would find nothing.
 */
function toIndexedWords(text: string): string {
  const plain = compose(text)
  // All scripts below U+0E00 have spaces.
  if (!/[^\x00-\u0dff]/.test(plain)) return plain
  return plain.replace(unspacedRuns, (run) => ` ${[...pairsOf(run), lastOf(run)].join(' ')} `)
}

/** Lower case, without compatibility forms and diacritics: `Ｃafé` becomes `cafe`. */
export function foldText(text: string): string {
  // Dashes and curly quotation marks are common, and need no folding.
  if (!/[^\x00-\x7f\u2010-\u205e]/.test(text)) return text.toLowerCase()
  return withoutExcess(text).toLowerCase().normalize('NFKD').replace(diacritics, '').normalize('NFC')
}

/** The Porter stem (https://tartarus.org/martin/PorterStemmer) of a folded word, as the keyword index has it. */
export const stemOf = stemmer

/** Only the first characters of a longer word are indexed. */
const wordCharsMax = 64

/** The words of a text as a keyword index has them; in scripts without spaces, pairs of characters. */
export function indexedWords(text: string): string[] {
  return toIndexedWords(text).match(/[\p{L}\p{N}\p{M}]+/gu) ?? []
}

/** The part of a word that is indexed and searched for. */
export function clip(word: string): string {
  return word.length <= wordCharsMax ? word : word.slice(0, wordCharsMax).toWellFormed()
}

/** A word of a query, or a pair of characters in scripts without spaces. */
interface Word {
  /** The word as the query has it. */
  text: string
  /** A single character of such a script, which matches any pair that begins with it. */
  isPrefix: boolean
}

/** The words of a query, in order. */
export function wordsOf(query: string): Word[] {
  const runs = compose(query).match(/[\p{L}\p{N}\p{M}]+/gu) ?? []
  const parts = runs.flatMap((run) => run.split(splitAtUnspaced)).filter((part) => part !== '')
  return parts.flatMap((part): Word[] => {
    if (!startsUnspaced.test(part)) return [{ text: part, isPrefix: false }]
    const last = lastOf(part)
    return pairsOf(part).map((text) => ({ text, isPrefix: text === last }))
  })
}

/** Each character with the next one, marks included; a single character stays alone. */
export function pairsOf(run: string): string[] {
  const characters = run.match(markedCharacters) ?? []
  if (characters.length < 2) return characters
  return characters.slice(1).map((character, index) => `${characters[index]}${character}`)
}

export const separator = 0
export const spaced = 1
export const unspaced = 2

const unspacedRuns = new RegExp(`(?:${unspacedScripts}\\p{M}*)+`, 'gu')
const splitAtUnspaced = new RegExp(`((?:${unspacedScripts}\\p{M}*)+)`, 'u')
const startsUnspaced = new RegExp(`^${unspacedScripts}`, 'u')
const markedCharacters = /\P{M}\p{M}*|\p{M}+/gu
/** They select a glyph, such as a coloured emoji, and would otherwise become part of the adjacent word. */
const variationSelectors = /\p{Variation_Selector}+/gu

/** For every code unit: whether it separates words, belongs to a word, or belongs to a script without spaces. */
export const scripts = classifyCodeUnits()

function classifyCodeUnits(): Uint8Array {
  const kinds = new Uint8Array(0x10000)
  const all = Buffer.from(new Uint16Array(kinds.length).map((_, code) => code).buffer).toString('utf16le')
  const mark = (form: RegExp, kind: number) => {
    for (const { 0: run, index } of all.matchAll(form)) kinds.fill(kind, index, index + run.length)
  }
  mark(/[\p{L}\p{N}\p{M}]+/gu, spaced)
  mark(new RegExp(`${unspacedScripts}+`, 'gu'), unspaced)
  mark(/[^\p{L}\p{N}\p{M}]+|\p{Variation_Selector}+/gu, separator)
  // Surrogates are mostly ideographs and emoji.
  return kinds.fill(unspaced, 0xd800, 0xe000)
}

/**
 * Leaves out invisible characters, and all but 30 marks on a letter; no language has more. Normalisation sorts the marks
 * of a letter in quadratic time: https://www.unicode.org/reports/tr15/#Stream_Safe_Text_Format
 */
function withoutExcess(text: string): string {
  return text.replace(unseenInWords, '').replace(endlessMarks, '$1')
}

/** Soft hyphens and joiners, which do not change a word. */
const unseenInWords = /[\u00ad\u2060\ufeff]+/g
const endlessMarks = /(\p{M}{30})\p{M}+/gu

/** Resolves compatibility forms, and removes marks that FTS5 does not remove itself. */
function compose(text: string): string {
  const plain = withoutExcess(text).normalize('NFKC').replace(variationSelectors, '')
  return plain.replace(optionallyMarked, (run) =>
    run.normalize('NFD').replace(diacritics, '').normalize('NFC'),
  )
}

/** Marks that people may leave out when they write Latin, Greek, Cyrillic, Hebrew or Arabic. */
const diacritics =
  /[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670]+/g
/** Greek, Cyrillic, Hebrew and Arabic: FTS5 removes diacritics from Latin letters only. */
const optionallyMarked = /[\u0370-\u06ff\u1f00-\u1fff]+/g

/** The first character with its marks. */
export function firstOf(run: string): string {
  return run.match(markedCharacters)?.[0] ?? run
}

/** The last character, which is also indexed alone, so that a query of one character finds it at the end of a run. */
export function lastOf(run: string): string {
  return run.match(markedCharacters)?.at(-1) ?? run
}
