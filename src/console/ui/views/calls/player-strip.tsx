import { type KeyboardEvent, memo, type PointerEvent } from 'react'
import type { TalkTimeline } from '../../../../calls/reading/talk-timeline.ts'
import { asDuration } from '../../components/figures.ts'
import { TalkTimelineStrip } from '../../components/talk-timeline.tsx'
import classes from './player.module.css'
import { lanePath, type Waveform } from './waveform.ts'

/** Heights of the drawing. Its width is one unit per column of the timeline. */
const height = 64
const middle = height / 2
const laneHeight = 26
const turnsAt = 1.5
const shortStep = 5
const longStep = 30

interface PlayerStripProps extends DrawingProps {
  seconds: number
  duration: number
  /** The moment that the audio element is at, which a shown one may lag behind. */
  now: () => number
  onSeek: (seconds: number) => void
  /** The pointer has let go. */
  onPick: (seconds: number) => void
}

/** The recording in time, as a slider: a click plays from there. */
export function PlayerStrip({ seconds, duration, now, total, onSeek, onPick, ...drawing }: PlayerStripProps) {
  const at = (event: PointerEvent<HTMLElement>) => {
    const { left, width } = event.currentTarget.getBoundingClientRect()
    return Math.max(0, Math.min(duration, ((event.clientX - left) / width) * total))
  }
  const onKey = (event: KeyboardEvent) => {
    const target = keyTarget(event.key, now(), duration)
    if (target === null) return
    event.preventDefault()
    onSeek(target)
  }
  return (
    <div
      role="slider"
      tabIndex={0}
      className={classes.strip}
      aria-label="Position in the recording"
      aria-valuemin={0}
      aria-valuemax={Math.round(duration)}
      aria-valuenow={Math.round(seconds)}
      aria-valuetext={`${asDuration(seconds)} of ${asDuration(duration)}`}
      onKeyDown={onKey}
      onPointerDown={(event) => {
        if (event.button !== 0) return
        event.currentTarget.setPointerCapture(event.pointerId)
        onSeek(at(event))
      }}
      onPointerMove={(event) => {
        if (event.currentTarget.hasPointerCapture(event.pointerId)) onSeek(at(event))
      }}
      onPointerUp={(event) => {
        if (event.currentTarget.hasPointerCapture(event.pointerId)) onPick(at(event))
      }}
    >
      <Drawing total={total} {...drawing} />
      <span
        className={classes.playhead}
        style={{ left: `${total > 0 ? Math.min(1, seconds / total) * 100 : 0}%` }}
      />
    </div>
  )
}

function keyTarget(key: string, seconds: number, duration: number): number | null {
  const steps: Record<string, number> = {
    ArrowLeft: -shortStep,
    ArrowDown: -shortStep,
    ArrowRight: shortStep,
    ArrowUp: shortStep,
    PageDown: -longStep,
    PageUp: longStep,
    Home: -seconds,
    End: duration - seconds,
  }
  const step = steps[key]
  return step === undefined ? null : Math.max(0, Math.min(duration, seconds + step))
}

interface DrawingProps {
  /** The seconds that the strip shows. */
  total: number
  timeline: TalkTimeline
  /** Null where there is none: then the strip shows who speaks when. */
  waveform: Waveform | null
  /** Columns with a search match, and with a flagged turn. */
  matches: readonly number[]
  flags: readonly number[]
}

/** Redrawn only when it changes, not as time goes on. */
const Drawing = memo(({ total, timeline, waveform, matches, flags }: DrawingProps) => {
  if (!waveform) return <TalkTimelineStrip timeline={timeline} matches={matches} flags={flags} />
  const columns = timeline.user.length
  const width = total > 0 ? (waveform.seconds / total) * columns : columns
  const [first = [], second] = waveform.lanes
  const lane = (levels: readonly number[], direction: 1 | -1) =>
    lanePath(levels, { width, middle, height: laneHeight, direction })
  // Turns without times are not shown: their places would be guesses.
  const turns = (levels: string, y: number) =>
    timeline.seconds === null
      ? ''
      : [...levels.matchAll(/[1-9]+/g)].map(({ 0: run, index }) => `M${index} ${y}h${run.length}`).join('')
  const ticks = (places: readonly number[], from: number, tall: number) =>
    places.map((column) => `M${column + 0.5} ${from}v${tall}`).join('')
  return (
    <svg className={classes.wave} viewBox={`0 0 ${columns} ${height}`} preserveAspectRatio="none" aria-hidden>
      <path data-mark="match" d={ticks(matches, 0, height)} />
      <path data-mark={second ? 'caller' : 'both'} d={lane(first, -1)} />
      <path data-mark={second ? 'agent' : 'both'} d={lane(second ?? first, 1)} />
      <path data-mark="caller-turns" d={turns(timeline.user, turnsAt)} />
      <path data-mark="agent-turns" d={turns(timeline.assistant, height - turnsAt)} />
      <path data-mark="tool" d={ticks(timeline.tools, middle - 6, 12)} />
      <path data-mark="transfer" d={ticks(timeline.transfers, 0, height)} />
      <path data-mark="flag" d={ticks(flags, 0, 8)} />
    </svg>
  )
})
