import { useLocation, useNavigate, useSearch } from '@tanstack/react-router'
import { useDeferredValue, useMemo, useState } from 'react'
import type { Turn } from '../../../../calls/schemas.ts'
import { useKeys } from '../../components/events.ts'
import { to } from '../../components/to.ts'
import { hashOfTurn, turnOfHash } from './call-links.ts'
import { findInTurns, rangesByTurn, type TurnMatch } from './conversation.ts'

export type Places = ReturnType<typeof usePlaces>

/** What of the call is shown: its tab, turn and moment, which the address names, or a line that the timeline leads to. */
export function usePlaces(call: string, search: TurnSearch) {
  const { tab, t, show } = useAddress(call)
  const turn = turnOfHash(useLocation({ select: (location) => location.hash }))
  // Counts jumps, since the same place may be the target twice.
  const [jump, setJump] = useState(0)
  const [line, setLine] = useState<{ line: number; jump: number } | null>(null)
  const nameTurn = (index: number, at = 0) =>
    show(null, { hash: hashOfTurn(index), t: Math.floor(at) || undefined })
  const goTo = (index: number) => {
    nameTurn(index)
    setJump(jump + 1)
  }
  useKeys({ a: () => show(tab === 'analysis' ? null : 'analysis') })
  return {
    tab,
    t,
    show,
    target: turn === null ? null : { turn, jump },
    /** The line of the transcript that the timeline leads to. */
    line,
    /** Makes the address name a turn, and a moment of it. */
    nameTurn,
    goTo,
    goToLine: (next: number) => {
      if (tab !== 'transcript') show(null)
      setLine({ line: next, jump: (line?.jump ?? 0) + 1 })
    },
    quote: (turns: readonly number[], text: string) => {
      if (search.find(text, turns)) show(null, { isStep: true })
      else goTo(turns[0] ?? 0)
    },
    /** Keeps the moment in the address. */
    keepMoment: (seconds: number) => {
      const moment = Math.round(seconds) || undefined
      if (moment !== t) show(tab, { t: moment })
    },
  }
}

interface AddressChange {
  hash?: string
  /** The moment of the call, in seconds; kept without one. */
  t?: number | undefined
  /** Whether the browser's Back returns to what is shown now. */
  isStep?: boolean
}

/** The tab and the moment in the address, and how they change. */
function useAddress(call: string) {
  const navigate = useNavigate()
  const { tab = 'transcript', ...search } = useSearch({ from: '/p/$project/calls/$call' })
  const show = (value: string | null, { hash = '', isStep = false, ...change }: AddressChange = {}) => {
    void navigate({
      ...to.call(call),
      search: { ...search, ...change, tab: value === 'analysis' || value === 'raw' ? value : undefined },
      hash,
      hashScrollIntoView: false,
      replace: !isStep,
      resetScroll: false,
    })
  }
  return { tab, t: search.t, show }
}

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

/** The search within a call; the timeline shows its matches, too. */
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
  // Together, so that the words of a phrase are looked for only where neither of them has it whole.
  const texts = useMemo(
    (): Turn[] => [...transcript, { role: 'assistant', content: summary ?? '' }],
    [transcript, summary],
  )
  const found = useMemo(() => findInTurns(texts, deferred), [texts, deferred])
  const matches = useMemo(() => found.filter(({ turn }) => turn < transcript.length), [found, transcript])
  const summaryRanges = useMemo(
    () => rangesByTurn(found).get(transcript.length) ?? [],
    [found, transcript.length],
  )
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
      const first = findInTurns(texts, text).findIndex(({ turn }) => turns.includes(turn))
      if (first < 0) return false
      setQuery(text)
      setPosition(first)
      setJump(jump + 1)
      return true
    },
  }
}
