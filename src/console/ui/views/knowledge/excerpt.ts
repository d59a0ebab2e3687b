import { unspacedScripts } from '../../../../text/unspaced-scripts.ts'

const charsBefore = 60
const charsMax = 240

/** The part of a text around the first of these words, on one line. */
export function excerptOf(text: string, words: readonly string[]): string {
  const line = text.replace(/\s+/g, ' ').trim()
  const first = rangesOf(line, words)[0]?.[0] ?? 0
  const start = first <= charsBefore ? 0 : wordStart(line, first - charsBefore)
  const end = start + charsMax >= line.length ? line.length : wordStart(line, start + charsMax)
  const part = line.slice(start, end).trimEnd()
  return `${start > 0 ? '…' : ''}${part}${end < line.length ? '…' : ''}`
}

/** Where the word at this place begins, or this place if that is far before it: in an address, or without spaces. */
function wordStart(line: string, at: number): number {
  const start = line.lastIndexOf(' ', at) + 1
  if (at - start <= charsBefore) return start
  // Not between the two halves of a character.
  return /[\udc00-\udfff]/.test(line.charAt(at)) ? at - 1 : at
}

/** Where the text has these words, whatever their case, as UTF-16 offsets. */
export function rangesOf(text: string, words: readonly string[]): [number, number][] {
  if (words.length === 0) return []
  // It finds no characters but their place, since pairs of characters overlap.
  const pattern = new RegExp(`(?=(${words.map(patternOf).join('|')}))`, 'giu')
  return [...text.matchAll(pattern)].map(({ index, 1: found = '' }) => [index, index + found.length])
}

/** A letter of a script with spaces, beside which no word begins or ends. */
const letter = `(?!${unspacedScripts})[\\p{L}\\p{N}\\p{M}]`
const unspaced = new RegExp(`^${unspacedScripts}`, 'u')

function patternOf(word: string): string {
  const escaped = word.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')
  return unspaced.test(word) ? escaped : `(?<!${letter})${escaped}(?!${letter})`
}
