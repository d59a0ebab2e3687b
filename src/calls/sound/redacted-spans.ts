import type { ReadDatabase } from '../../db/reader.ts'
import type { Muting } from '../../db/schema.ts'
import { redactionKinds } from '../../redaction/kinds.ts'
import { readStored } from '../details.ts'
import type { TimelineEntry, Turn } from '../schemas.ts'
import { readStoredCalls } from '../writing/stored-calls.ts'
import { align, spanOfTurn } from './alignment.ts'
import { timedTurns } from './call-sound.ts'
import type { Span, Speech, Unmeasurable } from './figures.ts'
import { readSpeechBytes } from './speech-bytes.ts'

const mark = new RegExp(`\\[(${redactionKinds.join('|')})\\]`)

const timesDoNotFit = 'the times of its turns do not fit the sound'

/** The reason where the sound is not measured. */
const refusals: Record<Unmeasurable, string> = {
  mono: 'one channel',
  channels: 'this format',
  mixed: 'nobody can be told apart',
  noisy: 'nobody can be told apart',
  format: 'this format',
  damaged: 'this format',
  short: 'nobody can be told apart',
  long: 'this format',
}

/** What is to be silent in the recording of a call. */
export interface CallMuting {
  isLive: boolean
  /** The number of the call's last change. */
  changeSeq: number
  /** Includes what is silent already. A reason in a few words if it cannot be found out. */
  muting: Muting | string
}

/**
 * Reads what is to be silent in the recording of a call, as the call is now.
 * @param before what is silent already, null for nothing
 * @returns null if the call was deleted
 */
export async function readMuting(
  read: ReadDatabase,
  call: { projectId: number; id: string },
  speech: Buffer,
  before: Muting | null,
): Promise<CallMuting | null> {
  const found = (await readStoredCalls(read, call.projectId, [call.id])).get(call.id)
  if (!found) return null
  const { stored, changeSeq } = found
  const { status, transcript } = stored.call
  const { timeline } = readStored(stored.details)
  const muting = redactedSpans(readSpeechBytes(speech), { timeline, transcript }, before)
  return { isLive: status === 'live', changeSeq, muting }
}

/**
 * Finds the spans in which turns with something redacted are spoken, and adds them to what is silent already. Turns that are
 * silent are not looked for again, since nothing of them is heard.
 * @returns a reason in a few words if they cannot be found
 */
export function redactedSpans(
  speech: Speech,
  { timeline, transcript }: { timeline: readonly TimelineEntry[]; transcript: readonly Turn[] },
  before: Muting | null,
): Muting | string {
  const { spans, turns: silenced, alignment: known } = before ?? { spans: [], turns: [], alignment: null }
  const timed = timedTurns(timeline, transcript)
  const marked = transcript.flatMap(({ content }, turn) => (mark.test(content) ? [turn] : []))
  const places = marked.map((turn) => timed.findIndex((each) => each.turn === turn))
  const audible = places.filter((place) => !silenced.includes(timed[place]?.at ?? -1))
  if (audible.length === 0) return { spans, turns: silenced, alignment: known }
  if (typeof speech === 'string') return refusals[speech]
  if (audible.includes(-1)) return 'its turns have no times'
  const alignment = known ?? align(timed, ...speech)
  if (!alignment) return timesDoNotFit
  const [first, second] = speech
  const spoken = alignment.isSwapped ? { user: second, assistant: first } : { user: first, assistant: second }
  const spokenSpans = audible.map((place) => {
    const role = timed[place]?.role ?? 'user'
    return spanOfTurn(timed, place, alignment, spoken[role])
  })
  const heardSpans = spokenSpans.flatMap((span) => (span ? [span] : []))
  if (heardSpans.length < spokenSpans.length) return timesDoNotFit
  const turns = [...silenced, ...audible.flatMap((place) => timed[place]?.at ?? [])]
  return { spans: joined([...spans, ...heardSpans]), turns, alignment }
}

/** Joins spans that overlap, and rounds them outwards to hundredths of a second. The result is ascending. */
function joined(spans: readonly Span[]): Span[] {
  const all: Span[] = []
  for (const [from, to] of spans.toSorted(([a], [b]) => a - b)) {
    const last = all.at(-1)
    if (last && from <= last[1]) last[1] = Math.max(last[1], Math.ceil(to * 100) / 100)
    else all.push([Math.floor(from * 100) / 100, Math.ceil(to * 100) / 100])
  }
  return all
}
