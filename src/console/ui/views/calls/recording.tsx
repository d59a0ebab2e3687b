import { Box, Button } from '@mantine/core'
import { queryOptions } from '@tanstack/react-query'
import { Fragment } from 'react'
import type { Call, CallDetails, CallSound, HeardSound } from '../../../../calls/schemas.ts'
import type { Unmeasurable } from '../../../../calls/sound/figures.ts'
import type { RedactionKind } from '../../../../redaction/kinds.ts'
import { api, unwrap } from '../../api.ts'
import { sayNotDone, useAct } from '../../components/acts.ts'
import { isPlain } from '../../components/events.ts'
import { asCount, asDecimal, asDuration, asMilliseconds, asPercent } from '../../components/figures.ts'
import { Guarded } from '../../components/guarded.tsx'
import { PageLink } from '../../components/links.tsx'
import { to } from '../../components/to.ts'
import { useProject } from '../../session.ts'
import { useCallPage } from './call-page.ts'
import { readWaveform } from './call-track.ts'

const peaksAgainMs = 2_000

/** It has arrived, and is made silent where its call is redacted, or could not be. The service's sentence tells. */
function isAboutMuting({ reason }: CallDetails['recording']): boolean {
  return reason?.startsWith('What is redacted') === true
}

/** What plays of a call: what is kept here, or else what the platform keeps. The page may play from https only. */
export function playablePath(project: string, id: string, details: CallDetails | undefined): string | null {
  if (details?.recording.state === 'kept') return recordingPath(project, id)
  // The platform's own says what must not be heard.
  if (details && isAboutMuting(details.recording)) return null
  return details?.recordingUrl?.startsWith('https:') ? details.recordingUrl : null
}

/** The waveform of a recording, soon after it was kept. Null until then, and if it has none. */
export function peaksQuery(project: string, id: string, keptAt: string | null) {
  return queryOptions({
    queryKey: ['peaks', project, id, keptAt],
    queryFn: async ({ signal }) => {
      const answer = await fetch(`${recordingPath(project, id)}/peaks`, { signal })
      if (!answer.ok) throw new Error(`The waveform could not be loaded: ${answer.status}`)
      if (answer.status === 204) return { isComputed: false, waveform: null }
      return { isComputed: true, waveform: readWaveform(await answer.arrayBuffer()) }
    },
    refetchInterval: ({ state }) => (state.data?.isComputed === false ? peaksAgainMs : false),
    staleTime: ({ state }) => (state.data?.isComputed ? Number.POSITIVE_INFINITY : 0),
    select: ({ waveform }) => waveform,
  })
}

/** When each speaks in a recording that is measured: again when its figures have changed. */
export function heardQuery(project: string, id: string, details: CallDetails | undefined) {
  const { sound, recording } = details ?? {}
  return queryOptions({
    queryKey: ['sound', project, id, sound],
    queryFn: ({ signal }) => unwrap(api.projects({ project }).calls({ id }).sound.get({ fetch: { signal } })),
    staleTime: Number.POSITIVE_INFINITY,
    enabled: sound?.state === 'measured' && recording?.state === 'kept',
  })
}

/** A range of it may be asked for. */
function recordingPath(project: string, id: string): string {
  return `/console/api/projects/${project}/calls/${encodeURIComponent(id)}/recording`
}

/** Why the service keeps no recording of the call, if it should. */
export function RecordingState() {
  const { call, details } = useCallPage()
  if (!details) return null
  const {
    recording: { state, reason },
    recordingUrl: url,
  } = details
  // The page's security policy lets it play from https only.
  if (state === 'none' && url?.startsWith('http:')) {
    return (
      <Box component="p" px={20} pt={8}>
        <a href={url} target="_blank" rel="noreferrer">
          Open the recording
        </a>
      </Box>
    )
  }
  if (state === 'none' || state === 'kept') return null
  const isMuting = isAboutMuting(details.recording)
  const texts = {
    waiting: isMuting ? '' : 'The recording is being fetched.',
    failed: isMuting ? 'The recording is not kept.' : 'The recording could not be fetched.',
    expired: 'The recording was deleted at the end of its retention. The call stays.',
  }
  return (
    <Box component="p" px={20} pt={8} className="cb-dimmed">
      {texts[state]} {reason} {state === 'failed' && !isMuting && <TryAgain id={call.id} />}
    </Box>
  )
}

function TryAgain({ id }: { id: string }) {
  const { of } = useProject()
  const { mutate, isPending } = useAct({
    send: () => of.calls({ id }).recording.fetch.post({}),
    changes: of.calls({ id }).details,
  })
  const onError = (error: unknown) => sayNotDone('The recording was not fetched', error)
  return (
    <Guarded right="change">
      <Button
        variant="default"
        size="compact-xs"
        loading={isPending}
        onClick={() => mutate(undefined, { onError })}
      >
        Try again
      </Button>
    </Guarded>
  )
}

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

/** Whether there is something to say of what is heard. */
export function hasSoundLine({ status }: Call, details: CallDetails | undefined): boolean {
  return details !== undefined && status !== 'live' && details.sound.state !== 'none'
}

/** What the caller heard in a line of words, whose moments play; or why that is not known. */
export function SoundLine() {
  const { call, details, track, rail } = useCallPage()
  if (!details || !hasSoundLine(call, details)) return null
  const { state, reason } = details.sound
  return (
    <Box component="p" mt={4} className={rail.isOpen ? undefined : 'cb-truncate'}>
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
    </Box>
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
  const from = Math.max(0, at - leadSeconds)
  return (
    <PageLink
      inherit
      {...to.call(call.id)}
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
