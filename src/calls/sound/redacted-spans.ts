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

/** Why the parts that are to be silent cannot be found, for people. */
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
  /** With all that is silent already; for people in a few words if it cannot be told. */
  muting: Muting | string
}

/** As the call is now; null if it was deleted. @param before what is silent already, null for nothing */
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
 * When the turns are spoken whose text has something redacted, beside what is silent already. Turns that were silenced are
 * not looked for again: nothing is heard of them.
 * @returns a few words for people if that cannot be told
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
  const more = audible.map((place) => {
    const role = timed[place]?.role ?? 'user'
    return spanOfTurn(timed, place, alignment, spoken[role])
  })
  const found = more.flatMap((span) => (span ? [span] : []))
  if (found.length < more.length) return timesDoNotFit
  const turns = [...silenced, ...audible.flatMap((place) => timed[place]?.at ?? [])]
  return { spans: joined([...spans, ...found]), turns, alignment }
}

/** The spans that cover the same time: ascending, without overlaps, to the hundredth of a second. */
function joined(spans: readonly Span[]): Span[] {
  const all: Span[] = []
  for (const [from, to] of spans.toSorted(([a], [b]) => a - b)) {
    const last = all.at(-1)
    if (last && from <= last[1]) last[1] = Math.max(last[1], Math.ceil(to * 100) / 100)
    else all.push([Math.floor(from * 100) / 100, Math.ceil(to * 100) / 100])
  }
  return all
}
