import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type RefObject, useEffect, useEffectEvent, useMemo, useState } from 'react'
import type { Call, CallDetails } from '../../../../calls/schemas.ts'
import { useProject } from '../../session.ts'
import { type CallTrack, trackOf, turnAt } from './call-track.ts'
import type { Line } from './conversation.ts'
import { PlayButtons, PlayerMenu, type Skipping, stepSeconds } from './player-controls.tsx'
import { peaksQuery } from './recording-queries.ts'
import classes from './timeline.module.css'
import { TimelineFrame } from './timeline-frame.tsx'
import { TimelineStrip } from './timeline-strip.tsx'
import type { TurnMatch } from './turn-matches.ts'
import { type AudioState, play, playFrom, seek, useAudio } from './use-audio.ts'
import { useKeys } from './use-keys.ts'
import { silencesOf } from './waveform.ts'

/** How often the address gets the moment that plays. */
const momentSeconds = 5
/** The address can wait until it is heard. */
const momentDelayMs = 400
/** What is left of a skipped silence. */
const keptSilenceSeconds = 0.4

interface CallPlayerProps {
  call: Call
  details: CallDetails
  lines: readonly Line[]
  /** Where the recording is: here, or where the platform keeps it. */
  path: string
  audio: RefObject<HTMLAudioElement | null>
  matches: readonly TurnMatch[]
  /** Where it starts, in seconds. */
  startAt: number
  /** The turn that is heard. */
  onTurn: (turn: number | null) => void
  /** Shows the line of that index in the transcript. */
  onLine: (line: number) => void
  /** Keeps the moment in the address. */
  onMoment: (seconds: number) => void
}

/** The timeline of a call with a recording. Nothing of it is fetched until a person plays it, because listening is noted. */
export function CallPlayer({ call, details, lines, path, audio, matches, startAt, ...on }: CallPlayerProps) {
  const project = useProject()
  const { recording, review } = details
  const isKept = recording.state === 'kept'
  const state = useAudio(audio, startAt)
  const { data: waveform = null } = useQuery({
    ...peaksQuery(project.id, call.id, recording.keptAt),
    enabled: isKept,
  })
  const duration =
    recording.durationSeconds ?? waveform?.seconds ?? state.duration ?? Math.max(call.duration, state.seconds)
  const track = useSoundTrack(call, details, lines, duration)
  const turns = useMemo(() => matches.map(({ turn }) => turn), [matches])
  useTold(state, track, on)
  const silences = useMemo(
    () => (waveform ? silencesOf(waveform) : track.silences),
    [waveform, track.silences],
  )
  const skipping = useSkippedSilences(audio, silences, state.seconds)
  const now = () => audio.current?.currentTime ?? 0
  const seekTo = (seconds: number) => audio.current && seek(audio.current, seconds)
  const move = (by: number) => seekTo(now() + by)
  const toggle = () => {
    if (!audio.current) return
    if (state.isPlaying) audio.current.pause()
    else play(audio.current)
  }
  useKeys({ p: toggle, ',': () => move(-stepSeconds), '.': () => move(stepSeconds) })
  const flags = review?.flaggedTurns ?? none
  return (
    <>
      <audio ref={audio} preload="none" src={path}>
        {/* Without a source: the transcript says what is said. */}
        <track kind="captions" />
      </audio>
      <TimelineFrame
        track={track}
        flags={flags}
        silences={silences}
        now={now}
        onError={({ at, line }) => {
          seekTo(at)
          on.onLine(line)
        }}
        onSilence={seekTo}
        before={<PlayButtons state={state} duration={duration} onToggle={toggle} onMove={move} />}
        after={
          <PlayerMenu
            audio={audio}
            path={path}
            isKept={isKept}
            skipping={silences.length > 0 ? skipping : null}
          />
        }
        strip={
          <TimelineStrip
            label="Position in the recording"
            track={track}
            waveform={waveform}
            position={state.seconds}
            end={duration}
            now={now}
            matches={turns}
            flags={flags}
            onSeek={seekTo}
            onPick={(seconds) => playFrom(audio.current, seconds)}
          />
        }
      />
      {state.isFailed && (
        <p role="alert" className={classes.failure}>
          The recording could not be played.
          <Button variant="default" size="compact-xs" onClick={() => audio.current?.load()}>
            Try again
          </Button>
        </p>
      )}
    </>
  )
}

const none: never[] = []

/** As long as the recording. Without times of turns, what is not sound has no place in it. */
function useSoundTrack(
  { transcript }: Call,
  { timeline }: CallDetails,
  lines: readonly Line[],
  duration: number,
): CallTrack {
  return useMemo(() => {
    const whole = trackOf(transcript, timeline, lines, duration)
    if (whole.isTimed) return whole
    const marks = { tool: [], failed: [], retrieval: [], interruption: [], transfer: [] }
    return { ...whole, isTimed: true, total: duration, starts: [], marks, errors: [], silences: [] }
  }, [transcript, timeline, lines, duration])
}

/** Tells the turn that is heard, and now and then the moment. */
function useTold(
  { seconds, isPlaying }: AudioState,
  track: CallTrack,
  { onTurn, onMoment }: Pick<CallPlayerProps, 'onTurn' | 'onMoment'>,
): void {
  const heard = seconds > 0 && track.starts.length > 0 ? turnAt(track, seconds) : null
  const tellTurn = useEffectEvent(onTurn)
  useEffect(() => tellTurn(heard), [heard])
  const moment = isPlaying ? seconds - (seconds % momentSeconds) : seconds
  const tellMoment = useEffectEvent(onMoment)
  useEffect(() => {
    const timer = setTimeout(() => tellMoment(moment), momentDelayMs)
    return () => clearTimeout(timer)
  }, [moment])
}

/** Jumps over silence while it plays, if a person wants that. */
function useSkippedSilences(
  audio: RefObject<HTMLAudioElement | null>,
  silences: readonly [number, number][],
  seconds: number,
): Skipping {
  const [isOn, setIsOn] = useState(false)
  useEffect(() => {
    const playing = audio.current
    if (!isOn || !playing || playing.paused) return
    const [, end] = silences.find(([from, to]) => from + keptSilenceSeconds < seconds && seconds < to) ?? []
    if (end !== undefined && end - seconds > 2 * keptSilenceSeconds) seek(playing, end - keptSilenceSeconds)
  }, [audio, silences, seconds, isOn])
  return { isOn, setIsOn }
}
