import { joinsBefore } from '../../text/graphemes.ts'
import { isInsideLineEnd, isLineEnd, isSpace } from '../../text/white-space.ts'

/** The best offset from `low` to `high` to cut at: the highest rank, and of these the one nearest to `ideal`. */
export function nearestBoundary(text: string, low: number, high: number, ideal: number): number | null {
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
  if (!isSpace(before)) return isWideStop(before) ? rank.sentence : rank.none
  if (isLineEnd(before)) {
    if (isInsideLineEnd(text, at)) return rank.none
    const lineEnd = isInsideLineEnd(text, at - 1) ? at - 2 : at - 1
    return isLineEnd(text.charCodeAt(lineEnd - 1)) ? rank.paragraph : rank.line
  }
  if (isSpace(text.charCodeAt(at))) return rank.none
  return isStop(text.charCodeAt(at - 2)) ? rank.sentence : rank.word
}

/** Full stops of scripts that put no space after them: 。！？｡ */
function isWideStop(code: number): boolean {
  return code === 0x3002 || code === 0xff01 || code === 0xff1f || code === 0xff61
}

/** Full stop, exclamation and question mark, ellipsis, Arabic question mark, danda. */
function isStop(code: number): boolean {
  return (
    code === 0x2e || code === 0x21 || code === 0x3f || code === 0x2026 || code === 0x61f || code === 0x964
  )
}
