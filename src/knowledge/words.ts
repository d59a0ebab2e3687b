/**
 * What a keyword index takes for a text: compatibility forms resolved, and where a script puts no space between
 * words, overlapping pairs of characters instead, as Lucene's CJKAnalyzer does. A dictionary would cut more
 * sensibly, but another one in a query than in the text would find nothing.
 */
export function toIndexedWords(text: string): string {
  if (isPlain(text)) return text
  return text
    .normalize('NFKC')
    .replace(unspacedRuns, (run) => ` ${[...pairsOf(run), lastOf(run)].join(' ')} `)
}

/** Lower case without compatibility forms and diacritics: `Ｃafé` becomes `cafe`. */
export function foldText(text: string): string {
  // Dashes and curly quotation marks, which many texts have, separate words like any others.
  if (!/[^\x00-\x7f\u2010-\u205e]/.test(text)) return text.toLowerCase()
  const marks = /[\u0300-\u036f]+/g
  return text.toLowerCase().normalize('NFKD').replace(marks, '').normalize('NFC')
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
  for (const [run] of query.normalize('NFKC').matchAll(/[\p{L}\p{N}\p{M}]+/gu)) {
    for (const part of run.split(splitAtUnspaced)) {
      if (part === '') continue
      if (!startsUnspaced.test(part)) words.push({ text: part, isPrefix: false })
      else for (const text of pairsOf(part)) words.push({ text, isPrefix: lastOf(part) === text })
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

/** Whether a code unit separates words, belongs to one, or to a script that puts no space between them. */
export function scriptOf(code: number): number {
  if (code < 0x80) return isAsciiWord(code) ? spaced : separator
  if (code < 0xc0) return code === 0xaa || code === 0xb5 || code === 0xba ? spaced : separator
  if (code < 0x0e00) return code === 0xd7 || code === 0xf7 ? separator : spaced
  // Thai and Lao, Myanmar, Khmer.
  if (code < 0x0f00 || (code >= 0x1000 && code < 0x10a0) || (code >= 0x1780 && code < 0x1800)) return unspaced
  if (code >= 0x2000 && code < 0x2c00) return separator
  if (code < 0x2e00) return spaced
  // Radicals, kana, ideographs; between them CJK punctuation.
  if (code < 0x3040) return code === 0x3005 || (code >= 0x2e80 && code < 0x3000) ? unspaced : separator
  if (code < 0xa000) return unspaced
  if (code < 0xd800) return spaced
  // Surrogates: mostly ideographs and emoji.
  if (code < 0xe000) return unspaced
  if (code >= 0xf900 && code < 0xfb00) return unspaced
  return code >= 0xfe00 ? separator : spaced
}

/** What scriptOf answers, for every code unit: a text has many. */
export const scripts = Uint8Array.from({ length: 0x10000 }, (_, code) => scriptOf(code))

const unspacedScripts =
  '[\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}ー]'
const unspacedRuns = new RegExp(`(?:${unspacedScripts}\\p{M}*)+`, 'gu')
const splitAtUnspaced = new RegExp(`((?:${unspacedScripts}\\p{M}*)+)`, 'u')
const startsUnspaced = new RegExp(`^${unspacedScripts}`, 'u')
const markedCharacters = /\P{M}\p{M}*|\p{M}+/gu

/** What no step above would change: Latin, Greek, Cyrillic and others, composed. */
function isPlain(text: string): boolean {
  return !/[^\x00-\u0dff]/.test(text) && text.normalize('NFKC') === text
}

/** Also kept alone, so that a query of one character finds it by its beginning wherever it stands. */
function lastOf(run: string): string {
  return run.match(markedCharacters)?.at(-1) ?? run
}

function isAsciiWord(code: number): boolean {
  return (code >= 0x61 && code <= 0x7a) || (code >= 0x30 && code <= 0x39) || (code >= 0x41 && code <= 0x5a)
}
