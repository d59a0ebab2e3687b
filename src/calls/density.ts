import type { TimelineEntry, Turn } from './schemas.ts'

// The page imports this file too, so it imports nothing but types.

/** People speak about so many characters in a second. */
const charsPerSecond = 15
/** Of the shortest turn, such as “Yes.” */
const turnSecondsMin = 0.6
/** How much of a column a speaker fills is told in so many steps. */
const levels = 9

/** Who speaks when in a call, in columns of equal time. */
export interface Density {
  /** A digit for each column, from 0 for silence to 9 for all of it. */
  user: string
  assistant: string
  /** The columns of tool calls and of transfers, each once. */
  tools: number[]
  transfers: number[]
  /** How long all columns are; null when no turn has a time. They then stand for the length of what was said. */
  seconds: number | null
  /** How much of the time each speaks, from 0 to 1. */
  shares: { user: number; assistant: number }
}

interface SpokenTurn {
  role: Turn['role']
  from: number
  to: number
}

/** The time of each turn that the timeline knows, by its index. */
export function turnTimes(turnCount: number, timeline: readonly TimelineEntry[]): Map<number, number> {
  const times = new Map<number, number>()
  for (const { kind, turn, atSeconds } of timeline) {
    if (kind === 'turn' && typeof turn === 'number' && turn < turnCount) {
      const known = times.get(turn)
      if (known === undefined || atSeconds < known) times.set(turn, atSeconds)
    }
  }
  return times
}

/** Where each turn begins, as a share of the call from 0 to 1. */
export function turnStarts(
  transcript: readonly Turn[],
  timeline: readonly TimelineEntry[],
  duration: number,
): number[] {
  const { turns, end } = spokenTurns(transcript, timeline, duration)
  return turns.map(({ from }) => (end > 0 ? Math.min(1, from / end) : 0))
}

/** Pure: the same call gives the same strip, in one pass over its turns and its timeline. */
export function densityOf(
  transcript: readonly Turn[],
  timeline: readonly TimelineEntry[],
  duration: number,
  columns: number,
): Density {
  const { turns, end, isTimed } = spokenTurns(transcript, timeline, duration)
  const filled = { user: new Float64Array(columns), assistant: new Float64Array(columns) }
  const spoken = { user: 0, assistant: 0 }
  const scale = end > 0 ? columns / end : 0
  for (const { role, from, to } of turns) {
    fill(filled[role], from * scale, Math.min(columns, to * scale))
    spoken[role] += to - from
  }
  const columnsOf = (...kinds: TimelineEntry['kind'][]) => {
    if (!isTimed) return []
    const at = timeline
      .filter(({ kind }) => kinds.includes(kind))
      .map(({ atSeconds }) => Math.min(columns - 1, Math.floor(atSeconds * scale)))
    return [...new Set(at)].sort((a, b) => a - b)
  }
  return {
    user: digits(filled.user),
    assistant: digits(filled.assistant),
    tools: columnsOf('tool_call'),
    transfers: columnsOf('transfer'),
    seconds: isTimed ? end : null,
    shares: {
      user: end > 0 ? Math.min(1, spoken.user / end) : 0,
      assistant: end > 0 ? Math.min(1, spoken.assistant / end) : 0,
    },
  }
}

/** In seconds, or in those that saying it would take where no turn has a time. A turn ends where the next one begins. */
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
  // The length of the last turn is a guess, and the duration is not.
  const end = duration > last ? duration : Math.max(clock, last)
  for (const turn of turns) turn.to = Math.min(turn.to, end)
  return { turns, end, isTimed }
}

/** Adds to each column how much of it lies between two places. */
function fill(columns: Float64Array, from: number, to: number): void {
  for (let at = Math.floor(from); at < to && at < columns.length; at++) {
    columns[at] = (columns[at] ?? 0) + Math.min(to, at + 1) - Math.max(from, at)
  }
}

/** Whoever speaks in a column at all is seen in it. */
function digits(filled: Float64Array): string {
  return Array.from(filled, (share) =>
    share > 0.01 ? Math.min(levels, Math.max(1, Math.round(share * levels))) : 0,
  ).join('')
}
