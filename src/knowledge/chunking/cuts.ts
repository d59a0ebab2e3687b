import { graphemeStart, joinsBefore } from '../../text/graphemes.ts'

/** The length limit of a chunk, overlap included. All sizes here are in UTF-16 code units. */
export const chunkCharsMax = 1_600
/** Sections over the limit are cut into pieces of about this size. */
const chunkCharsTarget = 1_200
/** How much of the previous piece is repeated, at most. */
const chunkOverlapCharsMax = 120

const pieceCharsMax = chunkCharsMax - chunkOverlapCharsMax

const TAB = 0x09
const LF = 0x0a
const CR = 0x0d
const SPACE = 0x20

/** A piece by offsets: its own text from `start` to `end`, and how much it repeats from before `start`. */
export interface Cut {
  start: number
  end: number
  overlapChars: number
}

/** Cuts the text between two offsets into pieces within the limit: one, without overlap, if it fits already. */
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

/** The best end for a piece that starts at `from`: near an equal share of the rest, at the best boundary there. */
function findCut(text: string, from: number, end: number): number {
  const limit = from + pieceCharsMax
  const piecesLeft = Math.ceil((end - from) / chunkCharsTarget)
  const ideal = from + Math.round((end - from) / piecesLeft)
  // The cut must come after the first word, or the piece would be only white space.
  const behindFirst = Math.min(skipSpace(text, from, limit) + 1, limit)
  const low = Math.max(from + Math.floor((ideal - from) * 0.6), behindFirst)
  const high = Math.max(low, Math.min(limit, from + Math.floor((ideal - from) * 1.25)))
  const cut = nearestBoundary(text, low, high, ideal) ?? graphemeStart(text, from, high)
  return afterSpace(text, from, cut, limit)
}

/** Moves the cut past white space, as far as the piece before has room, so that pieces begin with a word. */
function afterSpace(text: string, from: number, cut: number, limit: number): number {
  const behind = skipSpace(text, cut, limit)
  // Indentation has a meaning in Markdown, so it stays with its line.
  let lineStart = behind
  while (lineStart > cut && !isLineEnd(text.charCodeAt(lineStart - 1))) lineStart--
  return lineStart > cut && behind < limit ? lineStart : graphemeStart(text, from, behind)
}

/** If the last piece is only white space, moves the last word of the piece before into it. */
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
  // A word that is too long to move, or is the only one of its piece, is split.
  const cut = [wordStart, wordEnd - 1].map((at) => graphemeStart(text, before, at)).find(fits)
  if (cut !== undefined) starts[starts.length - 1] = cut
}

/** How much of the piece from `from` to `cut` the next piece repeats: whole words, or else whole graphemes. */
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

/** The best offset from `low` to `high` to cut at: the highest rank, and of these the one nearest to `ideal`. */
function nearestBoundary(text: string, low: number, high: number, ideal: number): number | null {
  let best: number | null = null
  let bestRank: number = rank.none
  for (let at = low; at <= high; at++) {
    const atRank = rankAt(text, at)
    if (atRank === rank.none || atRank < bestRank || joinsBefore(text, at)) continue
    if (atRank === bestRank && best !== null && Math.abs(at - ideal) >= Math.abs(best - ideal)) continue
    best = at
    bestRank = atRank
  }
  return best
}

/** What ends at a boundary. The larger the unit, the better the cut. */
const rank = { none: 0, word: 1, sentence: 2, line: 3, paragraph: 4 } as const

/** What kind of unit ends right before `at`. The white space after a unit belongs to it. */
function rankAt(text: string, at: number): number {
  const before = text.charCodeAt(at - 1)
  if (!isSpace(before)) return wideStops.has(before) ? rank.sentence : rank.none
  if (isLineEnd(before)) {
    if (isInsideLineEnd(text, at)) return rank.none
    const lineEnd = isInsideLineEnd(text, at - 1) ? at - 2 : at - 1
    return isLineEnd(text.charCodeAt(lineEnd - 1)) ? rank.paragraph : rank.line
  }
  if (isSpace(text.charCodeAt(at))) return rank.none
  return stops.has(text.charCodeAt(at - 2)) ? rank.sentence : rank.word
}

/** Full stops of scripts that put no space after them. */
const wideStops = codesOf('。！？｡')
/** Including the Arabic question mark and the danda of Indian scripts. */
const stops = codesOf('.!?…؟।')

function codesOf(characters: string): ReadonlySet<number> {
  return new Set(Array.from(characters, (character) => character.charCodeAt(0)))
}

/** Whether `\s` matches the code unit. */
function isSpace(code: number): boolean {
  if (code <= SPACE) return code === SPACE || (code >= TAB && code <= CR)
  if (code < 0x1680) return code === 0xa0
  if (code >= 0x2000 && code <= 0x200a) return true
  return [0x1680, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000, 0xfeff].includes(code)
}

function isLineEnd(code: number): boolean {
  return code === LF || code === CR
}

/** Whether `at` is between the two characters of a line ending. */
function isInsideLineEnd(text: string, at: number): boolean {
  return text.charCodeAt(at) === LF && text.charCodeAt(at - 1) === CR
}

/** The offset of the first character from `from` that is not white space, at most `end`. */
function skipSpace(text: string, from: number, end: number): number {
  let at = from
  while (at < end && isSpace(text.charCodeAt(at))) at++
  return at
}
