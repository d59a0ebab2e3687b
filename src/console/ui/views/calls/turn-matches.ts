import type { Turn } from '../../../../calls/schemas.ts'

export interface TurnMatch {
  /** Index of the turn. */
  turn: number
  /** UTF-16 offsets into its text. */
  start: number
  end: number
}

const matchesMax = 5_000
/** As long as the longest quotation of an analysis. */
const queryCharsMax = 1_000

/**
 * Where a text occurs in a transcript, ignoring case; if it occurs nowhere, where any of its words does. At most 5,000
 * places.
 */
export function findInTurns(turns: readonly Turn[], query: string): TurnMatch[] {
  const phrase = query.trim().slice(0, queryCharsMax)
  if (!phrase) return []
  const whole = matchesOf(turns, [phrase])
  const words = phrase.match(/[\p{L}\p{M}\p{N}]+(?:['’][\p{L}\p{M}\p{N}]+)*/gu) ?? []
  return whole.length > 0 || words.length < 2 ? whole : matchesOf(turns, words)
}

/** The matches of each turn that has any, as ranges of its text. */
export function rangesByTurn(matches: readonly TurnMatch[]): Map<number, [number, number][]> {
  const byTurn = new Map<number, [number, number][]>()
  for (const { turn, start, end } of matches) {
    const ranges = byTurn.get(turn)
    if (ranges) ranges.push([start, end])
    else byTurn.set(turn, [[start, end]])
  }
  return byTurn
}

function matchesOf(turns: readonly Turn[], texts: string[]): TurnMatch[] {
  const alternatives = texts.map((text) =>
    text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&').replace(/\s+/g, '\\s+'),
  )
  // The `u` flag folds case without changing lengths, so offsets stay valid.
  const pattern = new RegExp(alternatives.join('|'), 'giu')
  const matches: TurnMatch[] = []
  for (const [turn, { content }] of turns.entries()) {
    for (const found of content.matchAll(pattern)) {
      matches.push({ turn, start: found.index, end: found.index + found[0].length })
      if (matches.length === matchesMax) return matches
    }
  }
  return matches
}
