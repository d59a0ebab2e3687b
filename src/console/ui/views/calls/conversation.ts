import type { CallNumbers } from '../../../../calls/keeping/shown-numbers.ts'
import { byTime, placesOf } from '../../../../calls/reading/steps.ts'
import { turnTimes } from '../../../../calls/reading/talk-timeline.ts'
import type { Call, CallDetails, TimelineEntry, Turn } from '../../../../calls/schemas.ts'
import { asDuration, asMoment } from '../../components/figures.ts'
import { type Step, stepNames, stepsOf } from './step.ts'

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

type Direction = CallDetails['direction'] | undefined

/** The person's number: the called one if the agent calls; null if unknown. */
export function personsNumber(
  { callerNumber, calledNumber }: CallNumbers,
  direction: Direction,
): string | null {
  return direction === 'outbound' ? calledNumber : callerNumber
}

/** `+1 555 729 4053`, `Web call`: who it was with. */
export function callTitle(numbers: CallNumbers, direction: Direction): string {
  return personsNumber(numbers, direction) ?? (direction === 'web' ? 'Web call' : 'Unknown caller')
}

/** The call as text to paste: who, when, and each turn with its time where that is known. */
export function callText(call: Call, details: CallDetails | undefined): string {
  const { transcript, createdAt, duration, id, summary } = call
  const head = [
    `${callTitle(call, details?.direction)}, ${createdAt}, ${asDuration(duration)}`,
    `Call ${id}`,
    ...(summary ? ['', summary] : []),
  ]
  const lines = linesOf(transcript, details?.timeline ?? []).flatMap((line) => {
    if (!('turn' in line)) {
      return [`[${stepNames(line.steps).join(', ')}]`]
    }
    const speaker = line.turn.role === 'user' ? 'Caller' : 'Agent'
    const at = line.atSeconds === null ? '' : ` (${asMoment(line.atSeconds)})`
    return [`${speaker}${at}: ${line.turn.content}`]
  })
  return [...head, '', ...lines, ''].join('\n')
}

type Latency = NonNullable<TimelineEntry['latencyMs']>
type Part = Exclude<keyof Latency, 'total'>

/** In the order in which they follow each other. */
export const partLabels: Record<Part, string> = {
  endOfTurn: 'End of turn',
  transcription: 'Transcription',
  model: 'Model',
  tool: 'Tools',
  voice: 'Voice',
}

export interface LatencyPart {
  part: Part
  ms: number
}

/** The parts that the platform says. */
export function partsOf(latency: Latency): LatencyPart[] {
  return parts.flatMap((part) => {
    const ms = latency[part]
    return typeof ms === 'number' && ms > 0 ? [{ part, ms }] : []
  })
}

/** What the caller waited; the sum of the parts where the platform does not say it. Null if it says nothing. */
export function totalOf(latency: Latency): number | null {
  if (typeof latency.total === 'number') return latency.total
  const said = partsOf(latency)
  return said.length > 0 ? said.reduce((sum, { ms }) => sum + ms, 0) : null
}

/** The median of each part over the turns that have it. */
export function medianParts(timeline: readonly TimelineEntry[]): LatencyPart[] {
  const said = timeline.flatMap(({ latencyMs }) => (latencyMs ? partsOf(latencyMs) : []))
  return parts.flatMap((part) => {
    const all = said.filter((one) => one.part === part).map(({ ms }) => ms)
    const middle = all.sort((a, b) => a - b)[Math.floor((all.length - 1) / 2)]
    return middle === undefined ? [] : [{ part, ms: middle }]
  })
}

const parts: readonly Part[] = ['endOfTurn', 'transcription', 'model', 'tool', 'voice']

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
