import { byTime, placesOf } from '../../../../calls/reading/steps.ts'
import { turnTimes } from '../../../../calls/reading/talk-timeline.ts'
import type { TimelineEntry, Turn } from '../../../../calls/schemas.ts'
import { type Step, stepsOf } from './step.ts'

/** A turn of the conversation; `atSeconds` is null when the timeline does not have its time. */
export interface SpokenLine {
  turn: Turn
  index: number
  atSeconds: number | null
  isInterrupted: boolean
  /** What the caller waited for before the turn, in milliseconds. */
  latency: TimelineEntry['latencyMs'] | null
}

/** What happened between two turns, in order of time. */
interface StepsLine {
  steps: Step[]
}

export type Line = SpokenLine | StepsLine

/**
 * The turns in order, and between them other events, by time; events of the same time stay in the order in which they were
 * sent. If no turn has a time, an event follows the turn that it
 * names, or else the last one. A tool's answer stands with its call.
 */
export function linesOf(transcript: readonly Turn[], timeline: readonly TimelineEntry[]): Line[] {
  const entries = byTime(timeline)
  const places = placesOf(transcript.length, entries)
  const times = turnTimes(transcript.length, timeline)
  const interrupted = new Set<number>()
  const latencies = new Map<number, TimelineEntry['latencyMs']>()
  for (const { kind, turn, interrupted: isInterrupted, latencyMs } of timeline) {
    if (kind !== 'turn' || typeof turn !== 'number') continue
    if (isInterrupted) interrupted.add(turn)
    if (latencyMs) latencies.set(turn, latencyMs)
  }
  const stepsBefore = new Map<number, Step[]>()
  for (const step of stepsOf(entries.filter(({ kind }) => kind !== 'turn'))) {
    const entry = step.began ?? step.answer
    const place = (entry && places.get(entry)) ?? transcript.length
    const steps = stepsBefore.get(place)
    if (steps) steps.push(step)
    else stepsBefore.set(place, [step])
  }
  const stepsAt = (place: number): StepsLine[] => {
    const steps = stepsBefore.get(place)
    return steps ? [{ steps }] : []
  }
  const lines = transcript.flatMap((turn, index) => [
    ...stepsAt(index),
    {
      turn,
      index,
      atSeconds: times.get(index) ?? null,
      isInterrupted: interrupted.has(index),
      latency: latencies.get(index) ?? null,
    },
  ])
  return [...lines, ...stepsAt(transcript.length)]
}
