import { type TalkTimeline, talkTimelineOf, turnStarts } from '../../../../calls/reading/talk-timeline.ts'
import type { Call, HeardSound, TimelineEntry } from '../../../../calls/schemas.ts'
import type { Line } from './conversation.ts'
import { runsOf } from './waveform.ts'

export const columns = 480
/** Shorter pauses are part of a conversation. */
const silenceSecondsMin = 2

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
  return runsOf(isSilent, total, silenceSecondsMin)
}
