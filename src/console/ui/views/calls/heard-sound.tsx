import { Fragment } from 'react'
import type { Call, CallDetails, CallSound, HeardSound } from '../../../../calls/schemas.ts'
import type { Unmeasurable } from '../../../../calls/sound/figures.ts'
import type { RedactionKind } from '../../../../redaction/kinds.ts'
import { isPlain } from '../../components/events.ts'
import { asCount, asDecimal, asDuration, asMilliseconds, asPercent } from '../../components/figures.ts'
import { PageLink } from '../../components/links.tsx'
import { useProject } from '../../session.ts'
import classes from './call.module.css'
import { useCallPage } from './call-page.ts'

/** What is heard of a call, and the moments at which it can be. */
interface Phrase {
  words: string
  moments: number[]
}

const momentsMax = 3
/** What a platform reports and what is heard are both said if they differ by so much. */
const differenceMsMin = 300
/** A moment is heard with what came before it. */
const leadSeconds = 1

const reasons: Record<Unmeasurable, string> = {
  mono: 'One channel has both voices. Record in stereo to see answer times.',
  channels:
    'The recording has more than two channels. Record the caller and the agent alone to see answer times.',
  mixed: 'Both channels have both voices. Record each voice in a channel of its own to see answer times.',
  noisy: 'Too noisy to tell who speaks when.',
  format: 'Answer times are measured in WAV, MP3 and Opus of at least 4,000 samples a second.',
  damaged: 'The recording is damaged, so answer times are not known.',
  short: 'Less than 3 seconds: too short to measure answer times.',
  long: 'The recording is too long to measure answer times.',
}

/** What the caller heard in a line of words, whose moments play; or why that is not known. */
export function SoundLine() {
  const { call, details, track, rail } = useCallPage()
  if (!details || call.status === 'live' || details.sound.state === 'none') return null
  const { state, reason } = details.sound
  return (
    <p className={`${classes.sound} ${rail.isOpen ? '' : 'cb-truncate'}`}>
      {state === 'measured'
        ? [...soundPhrases(details, track.heard), ...silencePhrases(details, call)].map((phrase, at) => (
            <Fragment key={phrase.words}>
              {at > 0 && ' · '}
              <PhraseWords {...phrase} />
            </Fragment>
          ))
        : reason === null
          ? 'Answer times are being measured.'
          : reasons[reason]}
    </p>
  )
}

function PhraseWords({ words, moments }: Phrase) {
  return (
    <>
      {words}
      {moments.slice(0, momentsMax).map((moment, at) => (
        <Fragment key={moment}>
          {at === 0 ? ' at ' : ', '}
          <Moment at={moment} />
        </Fragment>
      ))}
      {moments.length > momentsMax && ' …'}
    </>
  )
}

/** A link that plays from a moment. */
function Moment({ at }: { at: number }) {
  const { call, clock, sound } = useCallPage()
  const { id: project } = useProject()
  const from = Math.max(0, at - leadSeconds)
  return (
    <PageLink
      inherit
      to="/p/$project/calls/$call"
      params={{ project, call: call.id }}
      search={(search) => ({ ...search, tab: undefined, t: Math.floor(from) || undefined })}
      aria-label={`Play from ${asDuration(at)}`}
      onClick={(event) => {
        if (!sound || !isPlain(event)) return
        // The address then names the moment.
        event.preventDefault()
        clock.seek(from)
        clock.play()
      }}
    >
      {asDuration(at)}
    </PageLink>
  )
}

/** Says what was heard of a call that is measured. @param heard null where its recording is gone, and until it is loaded */
function soundPhrases(
  { sound, latencyMs }: Pick<CallDetails, 'sound' | 'latencyMs'>,
  heard: HeardSound | null,
): Phrase[] {
  const { deadAirs, deadAirSeconds, interruptions, agentShare, talkOvers } = sound
  if (agentShare === null) return [{ words: 'Nobody is heard', moments: [] }]
  const { caller = 0, agent = 0 } = talkOvers ?? {}
  const { waits = [], deadAir = [], talkOver = [] } = heard ?? {}
  const longest = waits.toSorted((a, b) => b.seconds - a.seconds).slice(0, 1)
  const said = (count: number | null, words: string, moments: number[]) => (count ? [{ words, moments }] : [])
  return [
    { words: answersIn(sound, latencyMs), moments: longest.map(({ at, seconds }) => at - seconds) },
    ...said(
      deadAirs,
      `dead air ${asDecimal(deadAirSeconds ?? 0, 1)} s${deadAirs === 1 ? '' : ` in ${asCount(deadAirs ?? 0)} places`}`,
      deadAir.map(([from]) => from),
    ),
    ...said(
      caller + agent,
      `talk-over ${timesOf(caller + agent)}${agent === 0 ? '' : caller === 0 ? ' by the agent' : `, ${asCount(agent)} by the agent`}`,
      talkOver.map(({ from }) => from),
    ),
    ...said(
      interruptions,
      `interrupted ${timesOf(interruptions ?? 0)}`,
      talkOver.flatMap(({ from, yielded }) => (yielded ? [from] : [])),
    ),
    { words: `agent spoke ${asPercent(Math.round(agentShare * 100) / 100)}`, moments: [] },
  ]
}

const redactedWords: Record<RedactionKind, string> = {
  phone: 'a phone number',
  email: 'an email address',
  card: 'a card number',
  iban: 'an IBAN',
  ssn: 'a Social Security number',
}

/** Says where the recording is silent, and why. */
function silencePhrases({ recording }: Pick<CallDetails, 'recording'>, { transcript }: Call): Phrase[] {
  const { mutedSeconds, muted } = recording
  if (!mutedSeconds || !muted) return []
  const said = Object.entries(redactedWords).flatMap(([kind, words]) =>
    transcript.some(({ content }) => content.includes(`[${kind}]`)) ? [words] : [],
  )
  const why =
    said.length === 0 ? '' : `, where ${said.join(' and ')} ${said.length > 1 ? 'were' : 'was'} said,`
  return [
    {
      words: `silent for ${asDecimal(mutedSeconds, 1)} s${why}`,
      moments: muted.flatMap(([from]) => from ?? []),
    },
  ]
}

/** `Answers after 0.9 s as heard, 1.9 s as reported, at most 4.1 s`. */
function answersIn({ responseMs, responseMaxMs }: CallSound, reportedMs: number | null): string {
  if (responseMs === null || responseMaxMs === null) return 'No answers'
  const differs = reportedMs !== null && Math.abs(reportedMs - responseMs) >= differenceMsMin
  return [
    `Answers after ${asMilliseconds(responseMs)}${differs ? ' as heard' : ''}`,
    ...(differs ? [`${asMilliseconds(reportedMs)} as reported`] : []),
    `at most ${asMilliseconds(responseMaxMs)}`,
  ].join(', ')
}

function timesOf(count: number): string {
  return count === 1 ? 'once' : count === 2 ? 'twice' : `${asCount(count)} times`
}
