import { graphemeStart } from '../../text/graphemes.ts'

export interface TextSlice {
  text: string
  /** Where the slice really starts: before the character that an offset cuts in two. */
  offset: number
  /** Where the next slice starts; null at the end. */
  nextOffset: number | null
}

/**
 * Part of a text, in UTF-16 code units. It splits no surrogate pair, and no grapheme that fits into it, and is empty
 * only behind the end.
 */
export function sliceOf(text: string, offset: number, charsMax: number): TextSlice {
  const start = isInsidePair(text, offset) ? offset - 1 : Math.min(offset, text.length)
  const cut = graphemeStart(text, start, Math.min(start + charsMax, text.length))
  const end = cut > start ? cut : start + String.fromCodePoint(text.codePointAt(start) ?? 0).length
  return { text: text.slice(start, end), offset: start, nextOffset: end < text.length ? end : null }
}

function isInsidePair(text: string, offset: number): boolean {
  return offset > 0 && (text.codePointAt(offset - 1) ?? 0) > 0xffff
}
