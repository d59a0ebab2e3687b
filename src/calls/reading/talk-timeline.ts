import type { TimelineEntry, Turn } from '../schemas.ts'

// The page imports this file too, so it imports nothing but types.

/** How fast people speak, roughly. */
const charsPerSecond = 15
/** The length of the shortest turn, such as “Yes.” */
const turnSecondsMin = 0.6
/** The highest digit of a column: the speaker fills it. */
const levels = 9

/** Who speaks when in a call, in columns of equal time. */
export interface TalkTimeline {
  /** A digit for each column: 0 for silence, 9 if the speaker fills it. */
  user: string
  assistant: string
  /** The columns with tool calls and with transfers. */
  tools: number[]
  transfers: number[]
  /** The length of all columns together; null if no turn has a time. Columns then stand for the length of the text. */
  seconds: number | null
  /** Each speaker's share of the time, from 0 to 1. */
  shares: { user: number; assistant: number }
}

interface SpokenTurn {
  role: Turn['role']
  from: number
  to: number
}

/** The times of turns in the timeline, by the turn's index. */
export function turnTimes(turnCount: number, timeline: readonly TimelineEntry[]): Map<number, number> {
  const times = new Map<number, number>()
  for (const { kind, turn, atSeconds } of timeline) {
    if (kind === 'turn' && typeof turn === 'number' && turn < turnCount) {
      const earlier = times.get(turn)
      if (earlier === undefined || atSeconds < earlier) times.set(turn, atSeconds)
    }
  }
  return times
}

/** Where each turn begins, as a fraction of the call. */
export function turnStarts(
  transcript: readonly Turn[],
  timeline: readonly TimelineEntry[],
  duration: number,
): number[] {
  const { turns, end } = spokenTurns(transcript, timeline, duration)
  return turns.map(({ from }) => (end > 0 ? Math.min(1, from / end) : 0))
}

/** Computes a call's talk timeline, in one pass over its turns and its timeline. */
export function talkTimelineOf(
  transcript: readonly Turn[],
  timeline: readonly TimelineEntry[],
  duration: number,
  columns: number,
): TalkTimeline {
  const { turns, end, isTimed } = spokenTurns(transcript, timeline, duration)
  const shares = { user: new Float64Array(columns), assistant: new Float64Array(columns) }
  const seconds = { user: 0, assistant: 0 }
  const scale = end > 0 ? columns / end : 0
  for (const { role, from, to } of turns) {
    fill(shares[role], from * scale, Math.min(columns, to * scale))
    seconds[role] += to - from
  }
  const columnsOf = (...kinds: TimelineEntry['kind'][]) => {
    if (!isTimed) return []
    const at = timeline
      .filter(({ kind }) => kinds.includes(kind))
      .map(({ atSeconds }) => Math.min(columns - 1, Math.floor(atSeconds * scale)))
    return [...new Set(at)].sort((a, b) => a - b)
  }
  return {
    user: digits(shares.user),
    assistant: digits(shares.assistant),
    tools: columnsOf('tool_call'),
    transfers: columnsOf('transfer'),
    seconds: isTimed ? end : null,
    shares: {
      user: end > 0 ? Math.min(1, seconds.user / end) : 0,
      assistant: end > 0 ? Math.min(1, seconds.assistant / end) : 0,
    },
  }
}

/**
 * When each turn is spoken, in seconds, estimated from its length if no turn has a time. A turn ends where the next
 * begins.
 */
function spokenTurns(
  transcript: readonly Turn[],
  timeline: readonly TimelineEntry[],
  duration: number,
): { turns: SpokenTurn[]; end: number; isTimed: boolean } {
  const times = turnTimes(transcript.length, timeline)
  const isTimed = times.size > 0
  const turns: SpokenTurn[] = []
  let clock = 0
  for (const [index, { role, content }] of transcript.entries()) {
    const from = Math.max(times.get(index) ?? clock, turns.at(-1)?.from ?? 0)
    const before = turns.at(-1)
    if (before && before.to > from) before.to = from
    clock = from + Math.max(turnSecondsMin, content.length / charsPerSecond)
    turns.push({ role, from, to: clock })
  }
  if (!isTimed) return { turns, end: clock, isTimed }
  const last = timeline.reduce((most, { atSeconds }) => Math.max(most, atSeconds), 0)
  // The call's duration is more reliable than the estimated end of the last turn.
  const end = duration > last ? duration : Math.max(clock, last)
  for (const turn of turns) turn.to = Math.min(turn.to, end)
  return { turns, end, isTimed }
}

/** Adds an interval to the columns that it overlaps. */
function fill(columns: Float64Array, from: number, to: number): void {
  for (let at = Math.floor(from); at < to && at < columns.length; at++) {
    columns[at] = (columns[at] ?? 0) + Math.min(to, at + 1) - Math.max(from, at)
  }
}

/** Columns as digits. Any speech shows as at least 1. */
function digits(shares: Float64Array): string {
  return Array.from(shares, (share) =>
    share > 0.01 ? Math.min(levels, Math.max(1, Math.round(share * levels))) : 0,
  ).join('')
}
