import { graphemeStart, joinsBefore } from '../../text/graphemes.ts'
import { isLineEnd, isSpace, skipSpace } from '../../text/white-space.ts'
import { nearestBoundary } from './boundaries.ts'

/** No chunk is longer, its overlap included. In UTF-16 code units, as all sizes here. */
export const chunkCharsMax = 1_600
/** Sections that do not fit are cut into pieces of about this size. */
export const chunkCharsTarget = 1_200
/** How much of the piece before is repeated, at most. */
export const chunkOverlapCharsMax = 120

const pieceCharsMax = chunkCharsMax - chunkOverlapCharsMax

/** Offsets of a piece: its own text from `start` to `end`, and how much before `start` it repeats. */
export interface Cut {
  start: number
  end: number
  overlapChars: number
}

/** Cuts what lies between two offsets into pieces that fit; one piece without overlap when it fits as it is. */
export function cutSection(text: string, start: number, end: number): Cut[] {
  if (end - start <= chunkCharsMax) return [{ start, end, overlapChars: 0 }]
  const starts = [start]
  let last = start
  while (end - last > pieceCharsMax) {
    last = findCut(text, last, end)
    starts.push(last)
  }
  keepTailVisible(text, starts, end)
  return starts.map((pieceStart, index) => ({
    start: pieceStart,
    end: starts[index + 1] ?? end,
    overlapChars: index === 0 ? 0 : overlapBefore(text, starts[index - 1] ?? start, pieceStart),
  }))
}

/** The best place to end a piece that starts at `from`: the rest is shared out evenly, then boundaries decide. */
function findCut(text: string, from: number, end: number): number {
  const limit = from + pieceCharsMax
  const piecesLeft = Math.ceil((end - from) / chunkCharsTarget)
  const ideal = from + Math.round((end - from) / piecesLeft)
  // A piece of white space only is not worth having: look for a cut behind the first word.
  const behindFirst = Math.min(skipSpace(text, from, limit) + 1, limit)
  const low = Math.max(from + Math.floor((ideal - from) * 0.6), behindFirst)
  const high = Math.max(low, Math.min(limit, from + Math.floor((ideal - from) * 1.25)))
  const cut = nearestBoundary(text, low, high, ideal) ?? graphemeStart(text, from, high)
  return afterSpace(text, from, cut, limit)
}

/** White space at a cut goes to the piece before, as far as it fits, so that pieces begin with a word. */
function afterSpace(text: string, from: number, cut: number, limit: number): number {
  const behind = skipSpace(text, cut, limit)
  // The next line's indentation means something in Markdown and stays with its line.
  let lineStart = behind
  while (lineStart > cut && !isLineEnd(text.charCodeAt(lineStart - 1))) lineStart--
  return lineStart > cut && behind < limit ? lineStart : graphemeStart(text, from, behind)
}

/** When only white space is left for the last piece, it gets the last word of the piece before as well. */
function keepTailVisible(text: string, starts: number[], end: number): void {
  const last = starts.at(-1)
  const before = starts.at(-2)
  if (last === undefined || before === undefined || skipSpace(text, last, end) < end) return
  let wordEnd = last
  while (wordEnd > before && isSpace(text.charCodeAt(wordEnd - 1))) wordEnd--
  let wordStart = Math.max(before, wordEnd - 1)
  while (wordStart > before && end - wordStart < pieceCharsMax && !isSpace(text.charCodeAt(wordStart - 1))) {
    wordStart--
  }
  const fits = (cut: number) => end - cut <= pieceCharsMax && skipSpace(text, before, cut) < cut
  // A word that is too long to move, or all that the piece before has, is divided.
  const cut = [wordStart, wordEnd - 1].map((at) => graphemeStart(text, before, at)).find(fits)
  if (cut !== undefined) starts[starts.length - 1] = cut
}

/** How much of the piece from `from` to `cut` the next one repeats: whole words, else whole graphemes. */
function overlapBefore(text: string, from: number, cut: number): number {
  const earliest = Math.max(from, cut - chunkOverlapCharsMax)
  let start = earliest
  while (start < cut && !(isSpace(text.charCodeAt(start - 1)) && !isSpace(text.charCodeAt(start)))) start++
  if (start < cut && !joinsBefore(text, start)) return cut - start
  start = graphemeStart(text, from, earliest)
  if (start < earliest) start = graphemeStart(text, from, Math.min(cut, earliest + 2 * (earliest - start)))
  const overlapChars = cut - start
  return overlapChars > chunkOverlapCharsMax || skipSpace(text, start, cut) === cut ? 0 : overlapChars
}
