import { soundIn } from '../details.ts'
import type { CallSound, HeardSound, TimelineEntry, Turn } from '../schemas.ts'
import { align } from './alignment.ts'
import { figuresOf, type Span, type Speech, secondsOf } from './figures.ts'

/** Counts the changes of what is measured: figures of two versions do not compare. */
const version = 1

/** What figures depend on beside the sound. */
interface Beside {
  timeline: readonly TimelineEntry[]
  transcript: readonly Turn[]
  /** The channel that is the caller's, if somebody says it. */
  callerChannel: number | null
  muted: Muted
}

/** Where the recording was made silent, in seconds; null for nowhere. */
type Muted = readonly number[][] | null

/** What is told of the sound of a call. */
export function soundOf(speech: Speech, { timeline, transcript, callerChannel, muted }: Beside): CallSound {
  if (typeof speech === 'string') return { ...soundIn('unmeasured', speech), version }
  const alignment = align(timedTurns(timeline, transcript), ...speech)
  const transfer = timeline.find(({ kind }) => kind === 'transfer')
  const agentChannel = callerChannel === null ? (alignment?.isSwapped ? 0 : 1) : callerChannel === 0 ? 1 : 0
  const untilSeconds = transfer
    ? hundredths(Math.max(0, transfer.atSeconds + (alignment?.offset ?? 0)))
    : null
  const { caller, agent } = speakersIn(speech, { agentChannel, untilSeconds })
  const { waits, talkOver, monologueSeconds, ...figures } = figuresOf(caller, agent)
  const deadAir = heardSilence(figures.deadAir, muted)
  const seconds = waits.map((wait) => wait.seconds).sort((a, b) => a - b)
  const [callerSeconds, agentSeconds] = [secondsOf(caller), secondsOf(agent)]
  const spoken = callerSeconds + agentSeconds
  return {
    state: 'measured',
    reason: null,
    responses: waits.length,
    responseMs: rankedMs(seconds, 0.5),
    responseP95Ms: rankedMs(seconds, 0.95),
    responseMaxMs: rankedMs(seconds, 1),
    deadAirs: deadAir.length,
    deadAirSeconds: hundredths(secondsOf(deadAir)),
    talkOvers: {
      caller: talkOver.filter(({ by }) => by === 'caller').length,
      agent: talkOver.filter(({ by }) => by === 'agent').length,
    },
    talkOverSeconds: hundredths(secondsOf(talkOver.map(({ from, to }) => [from, to]))),
    interruptions: talkOver.filter(({ yielded }) => yielded).length,
    callerSeconds: hundredths(callerSeconds),
    agentSeconds: hundredths(agentSeconds),
    agentShare: spoken === 0 ? null : Math.round((agentSeconds / spoken) * 1_000) / 1_000,
    monologueSeconds: hundredths(monologueSeconds),
    agentChannel,
    untilSeconds,
    version,
  }
}

/** The same with what its figures are made of, as it was when they were made. */
export function heardIn(speech: Speech | null, sound: CallSound, muted: Muted): HeardSound {
  if (speech === null || typeof speech === 'string' || sound.state !== 'measured')
    return { ...sound, caller: [], agent: [], waits: [], deadAir: [], talkOver: [] }
  const { caller, agent } = speakersIn(speech, sound)
  const { waits, deadAir, talkOver } = figuresOf(caller, agent)
  return {
    ...sound,
    caller,
    agent,
    waits: waits.map(({ at, seconds }) => ({ at, seconds: hundredths(seconds) })),
    deadAir: heardSilence(deadAir, muted),
    talkOver,
  }
}

/** The dead air that people heard: where the recording was made silent, somebody spoke. */
function heardSilence(deadAir: readonly Span[], muted: Muted): Span[] {
  return deadAir.filter(([from, to]) => !muted?.some(([start = 0, end = 0]) => start < to && end > from))
}

/** Who is who, and what of it counts. */
function speakersIn(
  [first, second]: Exclude<Speech, string>,
  { agentChannel, untilSeconds }: Pick<CallSound, 'agentChannel' | 'untilSeconds'>,
): Record<'caller' | 'agent', Span[]> {
  const until = untilSeconds ?? Number.POSITIVE_INFINITY
  const counted = (spans: readonly Span[]) =>
    spans.flatMap(([from, to]): Span[] => (from < until ? [[from, Math.min(to, until)]] : []))
  const [caller, agent] = agentChannel === 0 ? [second, first] : [first, second]
  return { caller: counted(caller), agent: counted(agent) }
}

/** The turns that the timeline names, in the order of their times. */
export function timedTurns(timeline: readonly TimelineEntry[], transcript: readonly Turn[]) {
  return timeline
    .flatMap(({ kind, turn, atSeconds }) => {
      const said = kind === 'turn' && typeof turn === 'number' ? transcript[turn] : undefined
      return said ? [{ turn, role: said.role, at: atSeconds, chars: said.content.length }] : []
    })
    .sort((a, b) => a.at - b.at)
}

/** By nearest rank, in milliseconds; null of nothing. */
function rankedMs(sorted: readonly number[], share: number): number | null {
  const seconds = sorted[Math.ceil(share * sorted.length) - 1]
  return seconds === undefined ? null : Math.round(seconds * 1_000)
}

function hundredths(seconds: number): number {
  return Math.round(seconds * 100) / 100
}
