import { useDeferredValue, useMemo, useState } from 'react'
import type { Turn } from '../../../../calls/schemas.ts'
import { findInTurns, rangesByTurn, type TurnMatch } from './turn-matches.ts'

export interface TurnSearch {
  query: string
  onQuery: (text: string) => void
  /** Null while nothing is looked for. */
  matches: readonly TurnMatch[] | null
  /** Where the summary has it. */
  summaryRanges: readonly [number, number][]
  /** The index of the current match in `matches`. */
  position: number
  /** Counts how often a match was requested, since the same one may be requested twice. */
  jump: number
  /** Goes to a match, wrapping around. */
  onPosition: (position: number) => void
  /** Searches for a text and goes to its first match in one of the turns. Returns whether there is one. */
  find: (text: string, turns: readonly number[]) => boolean
}

/** The search within a transcript; the strip above also shows its matches. */
export function useTurnSearch(
  transcript: readonly Turn[],
  summary: string | null,
  searchedFor: string,
): TurnSearch {
  // Until a person types, what the list was searched for, which may be known only later.
  const [typed, setQuery] = useState<string | null>(null)
  const query = typed ?? searchedFor
  const [position, setPosition] = useState(0)
  const [jump, setJump] = useState(0)
  const deferred = useDeferredValue(query)
  const matches = useMemo(() => findInTurns(transcript, deferred), [transcript, deferred])
  const summaryRanges = useMemo(() => {
    const found = findInTurns([{ role: 'assistant', content: summary ?? '' }], deferred)
    return rangesByTurn(found).get(0) ?? []
  }, [summary, deferred])
  return {
    query,
    onQuery: (text) => {
      setQuery(text)
      setPosition(0)
    },
    matches: deferred.trim() ? matches : null,
    summaryRanges,
    position: Math.min(position, matches.length - 1),
    jump,
    onPosition: (to) => {
      setPosition((to + matches.length) % matches.length)
      setJump(jump + 1)
    },
    find: (text, turns) => {
      const first = findInTurns(transcript, text).findIndex(({ turn }) => turns.includes(turn))
      if (first < 0) return false
      setQuery(text)
      setPosition(first)
      setJump(jump + 1)
      return true
    },
  }
}
