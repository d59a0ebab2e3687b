const charsBefore = 60
const charsMax = 240

/** The part of a text around the first of these words, on one line. */
export function excerptOf(text: string, words: readonly string[]): string {
  const line = text.replace(/\s+/g, ' ').trim()
  const first = rangesOf(line, words)[0]?.[0] ?? 0
  const start = first <= charsBefore ? 0 : line.lastIndexOf(' ', first - charsBefore) + 1
  const cut = line.slice(start, start + charsMax)
  const end = start + charsMax >= line.length ? cut : `${cut.slice(0, cut.lastIndexOf(' '))}…`
  return start > 0 ? `…${end}` : end
}

/** Where the words begin in the text, whatever their case and ending, as UTF-16 offsets. */
export function rangesOf(text: string, words: readonly string[]): [number, number][] {
  if (words.length === 0) return []
  const alternatives = words.map((word) => word.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')).join('|')
  const pattern = new RegExp(`(?<![\\p{L}\\p{N}])(?:${alternatives})`, 'giu')
  return [...text.matchAll(pattern)].map(({ index, 0: found }) => [index, index + found.length])
}
