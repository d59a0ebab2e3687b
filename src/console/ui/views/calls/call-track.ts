import { type TalkTimeline, talkTimelineOf, turnStarts } from '../../../../calls/reading/talk-timeline.ts'
import type { Call, HeardSound, TimelineEntry } from '../../../../calls/schemas.ts'
import type { Line } from './conversation.ts'

export const columns = 480

export type Mark = 'tool' | 'failed' | 'retrieval' | 'interruption' | 'transfer'

/** A call along its time: what the strip draws, and where a click on it leads. */
export interface CallTrack {
  /** The length that is shown, in seconds; 1 where no turn has a time. */
  total: number
  /** Whether positions are seconds. Otherwise they are guesses by the length of the text. */
  isTimed: boolean
  talk: TalkTimeline
  /** Where each turn begins, by its index, in order. */
  starts: number[]
  marks: Record<Mark, number[]>
  /** Failed tools: where, and the index of their line. */
  errors: { at: number; line: number }[]
  /** When nobody speaks, as far as the times of turns and the length of their texts say. */
  silences: [from: number, to: number][]
  /** What is heard in the recording; null unless it is measured. */
  heard: HeardSound | null
}

/** @param seconds the length of the call or, where there is one, of its recording */
export function trackOf(
  transcript: Call['transcript'],
  timeline: readonly TimelineEntry[],
  lines: readonly Line[],
  seconds: number,
): CallTrack {
  const talk = talkTimelineOf(transcript, timeline, seconds, columns)
  const isTimed = talk.seconds !== null
  const total = talk.seconds ?? 1
  const starts = turnStarts(transcript, timeline, seconds).map((share) => share * total)
  const marks: CallTrack['marks'] = { tool: [], failed: [], retrieval: [], interruption: [], transfer: [] }
  const errors: CallTrack['errors'] = []
  let spoken = -1
  for (const [line, content] of lines.entries()) {
    if ('turn' in content) {
      spoken = content.index
      if (content.isInterrupted) marks.interruption.push(starts[spoken] ?? 0)
      continue
    }
    for (const step of content.steps) {
      const at = isTimed ? Math.min(total, step.atSeconds) : (starts[spoken + 1] ?? total)
      if (step.kind === 'transfer') marks.transfer.push(at)
      if (step.kind !== 'tool') continue
      marks[step.failure === null ? (step.retrieved.length > 0 ? 'retrieval' : 'tool') : 'failed'].push(at)
      if (step.failure !== null) errors.push({ at, line })
    }
  }
  const silences = isTimed ? silencesIn(talk, total) : []
  return { total, isTimed, talk, starts, marks, errors, silences, heard: null }
}

/** The track of a recording. Without times of turns, what is not sound has no place in it. */
export function trackOfSound(track: CallTrack, seconds: number): CallTrack {
  if (track.isTimed) return track
  const marks = { tool: [], failed: [], retrieval: [], interruption: [], transfer: [] }
  return { ...track, isTimed: true, total: seconds, starts: [], marks, errors: [], silences: [] }
}

/** The turn at a position: the last that has begun, or the first. */
export function turnAt({ starts }: CallTrack, position: number): number {
  return Math.max(
    0,
    starts.findLastIndex((start) => start <= position),
  )
}

/** The columns of some positions, each once. */
export function columnsOf(positions: readonly number[], total: number): number[] {
  const column = (at: number) => Math.max(0, Math.min(columns - 1, Math.floor((at / total) * columns)))
  return [...new Set(positions.map(column))]
}

/** The first that begins after a position, or the very first: it goes round. */
export function nextAfter<Place>(
  places: readonly Place[],
  position: number,
  startOf: (place: Place) => number,
): Place | undefined {
  return places.find((place) => startOf(place) > position) ?? places[0]
}

function silencesIn({ user, assistant }: TalkTimeline, total: number): [number, number][] {
  const isSilent = [...user].map((level, at) => level === '0' && assistant[at] === '0')
  return runsOf(isSilent, total)
}

/** The loudness of a recording in columns of equal time, from 0 to 1: one lane, or the caller's and the agent's. */
export interface Waveform {
  lanes: readonly (readonly number[])[]
  /** The length of all columns together. */
  seconds: number
}

const version = 1
const headerBytes = 8
/** Quieter columns are silence, as a share of the loudest. */
const silentBelow = 0.04
/** Shorter pauses are part of a conversation. */
const silenceSecondsMin = 2
/** Makes quiet voices visible. */
const curve = 0.7
/** More columns than this are narrower than a pixel. */
const barsMax = 600

/** Reads what the service has computed: see src/recordings/audio/peaks.ts. Null if it could not. */
export function readWaveform(bytes: ArrayBuffer): Waveform | null {
  const view = new DataView(bytes)
  if (view.byteLength <= headerBytes || view.getUint8(0) !== version) return null
  const columns = view.getUint16(2, true)
  const levels = Array.from({ length: view.getUint8(1) }, (_, lane) => [
    ...new Uint8Array(bytes, headerBytes + lane * columns, columns),
  ])
  const loudest = levels.flat().reduce((most, level) => Math.max(most, level), 1)
  const lanes = levels.map((lane) => lane.map((level) => level / loudest))
  return { lanes, seconds: view.getFloat32(4, true) }
}

/** When nobody speaks, as seconds from and to, the shorter pauses left out. */
export function silencesOf({ lanes, seconds }: Waveform): [from: number, to: number][] {
  const columns = Array.from({ length: lanes[0]?.length ?? 0 }, (_, at) =>
    lanes.every((lane) => (lane[at] ?? 0) < silentBelow),
  )
  return runsOf(columns, seconds)
}

/** Where columns of equal time are true for long enough, as seconds from and to. */
function runsOf(columns: readonly boolean[], seconds: number) {
  const runs: [from: number, to: number][] = []
  let from = 0
  for (let at = 0; at <= columns.length; at++) {
    if (columns[at]) continue
    const [start, end] = [(from / columns.length) * seconds, (at / columns.length) * seconds]
    if (end - start >= silenceSecondsMin) runs.push([start, end])
    from = at + 1
  }
  return runs
}

/** The path of a lane: its area above (`-1`) or below (`1`) a line. */
export function lanePath(
  lane: readonly number[],
  { width, middle, height, direction }: { width: number; middle: number; height: number; direction: 1 | -1 },
): string {
  const step = Math.ceil(lane.length / barsMax)
  let path = `M0 ${middle}`
  for (let at = 0; at < lane.length; at += step) {
    const level = lane.slice(at, at + step).reduce((most, next) => Math.max(most, next), 0)
    const y = middle + direction * Math.max(0.5, level ** curve * height)
    path += `V${y.toFixed(1)}H${((Math.min(lane.length, at + step) / lane.length) * width).toFixed(2)}`
  }
  return `${path}V${middle}z`
}
