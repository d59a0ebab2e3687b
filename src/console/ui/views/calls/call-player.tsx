import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type RefObject, useEffect, useEffectEvent, useMemo, useState } from 'react'
import { talkTimelineOf, turnTimes } from '../../../../calls/reading/talk-timeline.ts'
import type { Call, CallDetails } from '../../../../calls/schemas.ts'
import { isTyping } from '../../components/typing.ts'
import { useProject } from '../../session.ts'
import { StripLegend } from './call-strip.tsx'
import classes from './player.module.css'
import { PlayerControls, type Skipping, stepSeconds } from './player-controls.tsx'
import { PlayerStrip } from './player-strip.tsx'
import { peaksQuery, recordingPath } from './recording-queries.ts'
import type { TurnMatch } from './turn-matches.ts'
import { play, playFrom, seek, useAudio } from './use-audio.ts'
import { silencesOf } from './waveform.ts'

const columns = 240
/** How often the address gets the moment that plays. */
const momentSeconds = 5
/** The address can wait until it is heard. */
const momentDelayMs = 400
/** What is left of a skipped silence. */
const keptSilenceSeconds = 0.4

interface CallPlayerProps {
  call: Call
  details: CallDetails
  audio: RefObject<HTMLAudioElement | null>
  matches: readonly TurnMatch[]
  /** Where it starts, in seconds. */
  startAt: number
  /** The turn that is heard. */
  onTurn: (turn: number | null) => void
  /** Keeps the moment in the address. */
  onMoment: (seconds: number) => void
}

/** Plays a call's recording. Nothing of it is fetched until a person plays it, because listening is noted. */
export function CallPlayer({ call, details, audio, matches, startAt, onTurn, onMoment }: CallPlayerProps) {
  const project = useProject()
  const { recording, timeline, review } = details
  const state = useAudio(audio, startAt)
  const { data: waveform = null } = useQuery(peaksQuery(project.id, call.id, recording.keptAt))
  const duration =
    recording.durationSeconds ?? waveform?.seconds ?? state.duration ?? Math.max(call.duration, state.seconds)
  const path = recordingPath(project.id, call.id)
  const turns = useTurns(call, details)
  const total = Math.max(duration, turns.at(-1)?.at ?? 0)
  const talk = useMemo(
    () => talkTimelineOf(call.transcript, timeline, total, columns),
    [call.transcript, timeline, total],
  )
  const marks = useMemo(() => {
    const columnsOf = (indexes: readonly number[]) =>
      turns
        .filter(({ index }) => indexes.includes(index))
        .map(({ at }) => Math.min(columns - 1, Math.floor((at / total) * columns)))
    return {
      matches: columnsOf(matches.map(({ turn }) => turn)),
      flags: columnsOf(review?.flaggedTurns ?? []),
    }
  }, [matches, review?.flaggedTurns, turns, total])
  const heard = state.seconds > 0 ? (turns.findLast(({ at }) => at <= state.seconds)?.index ?? null) : null
  const tellTurn = useEffectEvent(onTurn)
  useEffect(() => tellTurn(heard), [heard])
  const moment = state.isPlaying ? state.seconds - (state.seconds % momentSeconds) : state.seconds
  const tellMoment = useEffectEvent(onMoment)
  useEffect(() => {
    const timer = setTimeout(() => tellMoment(moment), momentDelayMs)
    return () => clearTimeout(timer)
  }, [moment])
  const silences = useMemo(() => (waveform ? silencesOf(waveform) : []), [waveform])
  const skipping = useSkippedSilences(audio, silences, state.seconds)
  const now = () => audio.current?.currentTime ?? 0
  const move = (by: number) => audio.current && seek(audio.current, now() + by)
  const toggle = () => {
    if (!audio.current) return
    if (state.isPlaying) audio.current.pause()
    else play(audio.current)
  }
  usePlayerKeys({ p: toggle, ',': () => move(-stepSeconds), '.': () => move(stepSeconds) })
  return (
    <>
      <audio ref={audio} preload="none" src={path}>
        {/* Without a source: the transcript says what is said. */}
        <track kind="captions" />
      </audio>
      <PlayerControls
        audio={audio}
        state={state}
        duration={duration}
        path={path}
        skipping={silences.length > 0 ? skipping : null}
        onToggle={toggle}
        onMove={move}
      />
      <div className={classes.lanes}>
        <PlayerStrip
          seconds={state.seconds}
          duration={duration}
          now={now}
          total={total}
          timeline={talk}
          waveform={waveform}
          matches={marks.matches}
          flags={marks.flags}
          onSeek={(seconds) => audio.current && seek(audio.current, seconds)}
          onPick={(seconds) => playFrom(audio.current, seconds)}
        />
        <StripLegend timeline={talk} flags={review?.flaggedTurns} />
        {state.isFailed && (
          <p role="alert" className={classes.failure}>
            The recording could not be played.
            <Button variant="default" size="compact-xs" onClick={() => audio.current?.load()}>
              Try again
            </Button>
          </p>
        )}
      </div>
    </>
  )
}

/** The turns whose times are known, in order of time. */
function useTurns({ transcript }: Call, { timeline }: CallDetails): { index: number; at: number }[] {
  return useMemo(
    () =>
      [...turnTimes(transcript.length, timeline)]
        .map(([index, at]) => ({ index, at }))
        .sort((a, b) => a.at - b.at || a.index - b.index),
    [transcript, timeline],
  )
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

function usePlayerKeys(keys: Record<string, () => unknown>): void {
  const onKey = useEffectEvent((event: KeyboardEvent) => {
    const act = keys[event.key]
    if (!act || event.metaKey || event.ctrlKey || event.altKey || event.defaultPrevented || isTyping(event))
      return
    event.preventDefault()
    act()
  })
  useEffect(() => {
    window.addEventListener('keydown', onKey)
    return () => window.removeEventListener('keydown', onKey)
  }, [])
}
