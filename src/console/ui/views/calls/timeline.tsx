import { ActionIcon, Button, Group, Input } from '@mantine/core'
import {
  IconAlertTriangle,
  IconChevronDown,
  IconDownload,
  IconExternalLink,
  IconPlayerPauseFilled,
  IconPlayerPlayFilled,
  IconPlayerSkipForward,
  IconPlayerTrackNext,
  IconRewindBackward5,
  IconRewindForward5,
} from '@tabler/icons-react'
import { useEffect, useEffectEvent, useMemo, useState } from 'react'
import { useKeys } from '../../components/events.ts'
import { asMoment, counted } from '../../components/figures.ts'
import { IconButton } from '../../components/icon-button.tsx'
import { type Sound, useCallPage } from './call-page.ts'
import { type CallTrack, nextAfter, turnAt } from './call-track.ts'
import { useClock } from './clock.ts'
import classes from './timeline.module.css'
import { TimelineStrip } from './timeline-strip.tsx'

const stepSeconds = 5
const speeds = [0.75, 1, 1.25, 1.5, 2]
/** Audio can stand a little before the moment that it was set to. */
const toleranceSeconds = 0.01
/** How often the address gets the moment that plays. */
const momentSeconds = 5
/** The address can wait until it is heard. */
const momentDelayMs = 400
/** What is left of a skipped silence. */
const keptSilenceSeconds = 0.4

const none: never[] = []

/**
 * A call in time, with its playhead; it stays in reach while the transcript is read. Nothing of a recording is fetched until
 * a person plays it, because listening is noted.
 */
export function Timeline() {
  const { details, track, clock, sound, search, places } = useCallPage()
  const position = useClock(clock, (at) => at.position())
  const playing = useClock(clock, (at) => at.playing())
  const flags = details?.review?.flaggedTurns ?? none
  const turns = useMemo(() => (search.matches ?? none).map(({ turn }) => turn), [search.matches])
  const skipping = useSkippedSilences(position)
  useMomentInAddress(position)
  const goTo = (at: number) => {
    clock.seek(at)
    if (!sound) places.nameTurn(turnAt(track, at), track.isTimed ? at : 0)
  }
  const pick = (at: number) => {
    goTo(at)
    clock.play()
  }
  const { errors, silences, isTimed, total } = track
  /** The place that follows the playhead. */
  const after = <Place,>(marks: readonly Place[], startOf: (place: Place) => number) =>
    nextAfter(marks, clock.now() + (isTimed ? toleranceSeconds : 0), startOf)
  const toError = () => {
    const next = after(errors, ({ at }) => at)
    if (!next) return
    clock.seek(next.at)
    places.goToLine(next.line)
  }
  const toSilence = () => goTo(after(silences, ([from]) => from)?.[0] ?? 0)
  useKeys({ ...(errors.length > 0 && { t: toError }), ...(silences.length > 0 && { z: toSilence }) })
  return (
    <>
      {sound && (
        <audio
          key={`${sound.path} ${details?.recording.keptAt}`}
          ref={clock.attach}
          preload="none"
          src={sound.path}
        >
          {/* Without a source: the transcript says what is said. */}
          <track kind="captions" />
        </audio>
      )}
      <section className={classes.timeline} aria-label="Timeline">
        <TimelineStrip
          label={sound ? 'Position in the recording' : 'Position in the call'}
          track={track}
          waveform={sound?.waveform ?? null}
          position={position}
          now={clock.now}
          matches={turns}
          flags={flags}
          onSeek={clock.seek}
          onPick={pick}
        />
        <div className={classes.controls}>
          {sound && <PlayButtons />}
          <span className={classes.time}>
            {isTimed ? (
              <>
                {asMoment(position)} <span className="cb-dimmed">/ {asMoment(total)}</span>
              </>
            ) : (
              <span className="cb-dimmed">No times known; placed by length of text</span>
            )}
          </span>
          {errors.length > 0 && (
            <IconButton
              icon={IconAlertTriangle}
              label={`Next failed tool, of ${errors.length}`}
              hint={`Next of ${counted(errors.length, 'failed tool')} (t)`}
              color="red"
              onClick={toError}
            />
          )}
          {silences.length > 0 && (
            <IconButton
              icon={IconPlayerTrackNext}
              label={`Next silence, of ${silences.length}`}
              hint={`Next of ${counted(silences.length, 'silence')} (z)`}
              onClick={toSilence}
            />
          )}
          <Legend track={track} flags={flags} />
          {sound && (
            <Group component="span" gap={4} wrap="nowrap" ml="auto">
              {silences.length > 0 && (
                <IconButton
                  icon={IconPlayerSkipForward}
                  label="Skip silence"
                  isPressed={skipping.isOn}
                  onClick={skipping.toggle}
                />
              )}
              <Speed />
              <Elsewhere sound={sound} />
            </Group>
          )}
        </div>
      </section>
      {playing.isFailed && (
        <Group component="p" role="alert" gap={8} px={20} pt={8} className="cb-dimmed">
          The recording could not be played.
          <Button variant="default" size="compact-xs" onClick={() => clock.audio()?.load()}>
            Try again
          </Button>
        </Group>
      )}
    </>
  )
}

/** Keeps the moment of a recording in the address, now and then. */
function useMomentInAddress(position: number): void {
  const { clock, sound, places } = useCallPage()
  const isHeard = sound !== null
  const moment = clock.playing().isPlaying ? position - (position % momentSeconds) : position
  const keep = useEffectEvent(places.keepMoment)
  useEffect(() => {
    if (!isHeard) return
    const timer = setTimeout(() => keep(moment), momentDelayMs)
    return () => clearTimeout(timer)
  }, [isHeard, moment])
}

/** Jumps over silence while it plays, if a person wants that. */
function useSkippedSilences(position: number) {
  const { clock, track } = useCallPage()
  const [isOn, setOn] = useState(false)
  useEffect(() => {
    if (!isOn || !clock.playing().isPlaying) return
    const [, end] =
      track.silences.find(([from, to]) => from + keptSilenceSeconds < position && position < to) ?? []
    if (end !== undefined && end - position > 2 * keptSilenceSeconds) clock.seek(end - keptSilenceSeconds)
  }, [clock, track, position, isOn])
  return { isOn, toggle: () => setOn(!isOn) }
}

function PlayButtons() {
  const { clock } = useCallPage()
  const { isPlaying, isWaiting } = useClock(clock, (at) => at.playing())
  const toggle = () => (isPlaying ? clock.audio()?.pause() : clock.play())
  const move = (by: number) => () => clock.seek(clock.now() + by)
  useKeys({ p: toggle, ',': move(-stepSeconds), '.': move(stepSeconds) })
  return (
    <>
      <ActionIcon
        size={28}
        radius="xl"
        aria-label={isPlaying ? 'Pause' : 'Play'}
        data-hint={isPlaying ? 'Pause (p)' : 'Play (p)'}
        loading={isWaiting}
        onClick={toggle}
      >
        {isPlaying ? <IconPlayerPauseFilled size={14} /> : <IconPlayerPlayFilled size={14} />}
      </ActionIcon>
      <Group component="span" gap={0} wrap="nowrap" className={classes.steps}>
        <IconButton
          icon={IconRewindBackward5}
          label="Back 5 s"
          hint="Back 5 s (,)"
          onClick={move(-stepSeconds)}
        />
        <IconButton
          icon={IconRewindForward5}
          label="Forward 5 s"
          hint="Forward 5 s (.)"
          onClick={move(stepSeconds)}
        />
      </Group>
    </>
  )
}

/** The recording as a file, or where the platform keeps it. */
function Elsewhere({ sound: { path, isKept } }: { sound: Sound }) {
  const label = `${isKept ? 'Download' : 'Open'} the recording`
  const how = isKept ? { download: true } : { target: '_blank', rel: 'noreferrer' }
  return (
    <ActionIcon
      component="a"
      href={path}
      variant="subtle"
      color="gray"
      size={28}
      aria-label={label}
      data-hint={label}
      {...how}
    >
      {isKept ? <IconDownload size={16} /> : <IconExternalLink size={16} />}
    </ActionIcon>
  )
}

function Speed() {
  const { clock } = useCallPage()
  return (
    <Input
      component="select"
      variant="unstyled"
      size="xs"
      w={52}
      pointer
      rightSection={<IconChevronDown size={12} aria-hidden />}
      rightSectionWidth={16}
      rightSectionPointerEvents="none"
      aria-label="Speed"
      defaultValue={1}
      onChange={({ currentTarget }) => {
        const audio = clock.audio()
        // The first is reset when the element loads again.
        if (audio) audio.defaultPlaybackRate = audio.playbackRate = Number(currentTarget.value)
      }}
    >
      {speeds.map((speed) => (
        <option key={speed} value={speed}>
          {speed}×
        </option>
      ))}
    </Input>
  )
}

/** What the colours and shapes of the strip mean. */
function Legend({ track: { marks, heard }, flags }: { track: CallTrack; flags: readonly number[] }) {
  const names = [
    { mark: 'user', name: 'Caller', count: 1 },
    { mark: 'assistant', name: 'Agent', count: 1 },
    { mark: 'tool', name: 'Tools', count: marks.tool.length },
    { mark: 'failed', name: 'Failed', count: marks.failed.length },
    { mark: 'retrieval', name: 'Retrieval', count: marks.retrieval.length },
    { mark: 'interruption', name: 'Interruptions', count: marks.interruption.length },
    { mark: 'transfer', name: 'Transfer', count: marks.transfer.length },
    { mark: 'gap', name: 'Dead air', count: heard?.deadAir.length ?? 0 },
    { mark: 'over', name: 'Talk-over', count: heard?.talkOver.length ?? 0 },
    { mark: 'flag', name: 'Flags', count: flags.length },
  ]
  return (
    <span className={classes.legend} aria-hidden>
      {names
        .filter(({ count }) => count > 0)
        .map(({ mark, name }) => (
          <span key={mark} data-mark={mark}>
            {name}
          </span>
        ))}
    </span>
  )
}
