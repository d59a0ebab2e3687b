import type { TimelineEntry } from '../schemas.ts'
import { turnTimes } from './talk-timeline.ts'

// The page imports this file too, so it imports nothing but types and pure functions.

/** What happened between two turns: a tool's call with its answer, a transfer, or something else. */
export interface Step {
  kind: 'tool' | 'transfer' | 'other'
  name: string | null
  atSeconds: number
  /** What began it, and the tool's answer: at least one of them. */
  began: TimelineEntry | null
  answer: TimelineEntry | null
}

/** Pairs each tool's call with the next answer of its name. @param entries in order of time, without turns */
export function stepsOf(entries: readonly TimelineEntry[]): Step[] {
  const steps: Step[] = []
  const unanswered = new Map<string | null, Step[]>()
  for (const entry of entries) {
    const name = entry.name ?? null
    const call = entry.kind === 'tool_result' ? unanswered.get(name)?.shift() : undefined
    if (call) {
      call.answer = entry
      continue
    }
    const step = begun(entry)
    steps.push(step)
    if (entry.kind !== 'tool_call') continue
    const waiting = unanswered.get(name)
    if (waiting) waiting.push(step)
    else unanswered.set(name, [step])
  }
  return steps
}

function begun(entry: TimelineEntry): Step {
  const { kind, name = null, atSeconds } = entry
  const isTool = kind === 'tool_call' || kind === 'tool_result'
  const isAnswer = kind === 'tool_result'
  return {
    kind: isTool ? 'tool' : kind === 'transfer' ? 'transfer' : 'other',
    name,
    atSeconds,
    began: isAnswer ? null : entry,
    answer: isAnswer ? entry : null,
  }
}

/** The entries in order of time; those of one moment stay in the order in which they were sent. */
export function byTime(timeline: readonly TimelineEntry[]): TimelineEntry[] {
  return timeline.toSorted((a, b) => a.atSeconds - b.atSeconds)
}

/**
 * The turn before which each event stands, by time. If no turn has a time, an event follows the turn that it names, or
 * else the last one.
 * @param entries in order of time
 */
export function placesOf(turnCount: number, entries: readonly TimelineEntry[]): Map<TimelineEntry, number> {
  const times = turnTimes(turnCount, entries)
  const positions = new Map<number, number>()
  for (const [position, { kind, turn }] of entries.entries())
    if (kind === 'turn' && turn != null && !positions.has(turn)) positions.set(turn, position)
  const places = new Map<TimelineEntry, number>()
  // In order of time, so that one pass over the turns finds the place of every event.
  let next = 0
  for (const [position, entry] of entries.entries()) {
    if (entry.kind === 'turn') continue
    const isBefore = (turn: number) => {
      const time = times.get(turn) ?? 0
      return time < entry.atSeconds || (time === entry.atSeconds && (positions.get(turn) ?? 0) <= position)
    }
    while (next < turnCount && isBefore(next)) next++
    const named = Math.min((entry.turn ?? turnCount) + 1, turnCount)
    places.set(entry, times.size > 0 ? next : named)
  }
  return places
}

/** What a tool received and returned, as far as that is kept. */
export interface ToolUse {
  name: string | null
  input: string | null
  output: string | null
  /** The turn before which it answered. */
  before: number
}

/** The uses of tools in a call, in order. */
export function toolUses(turnCount: number, timeline: readonly TimelineEntry[]): ToolUse[] {
  const entries = byTime(timeline)
  const places = placesOf(turnCount, entries)
  return stepsOf(entries.filter(({ kind }) => kind === 'tool_call' || kind === 'tool_result')).map(
    ({ name, began, answer }) => {
      const last = answer ?? began
      return {
        name,
        input: began?.text ?? null,
        output: answer?.text ?? null,
        before: (last && places.get(last)) ?? turnCount,
      }
    },
  )
}
