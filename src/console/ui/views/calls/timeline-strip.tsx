import { type KeyboardEvent, memo, type PointerEvent, useState } from 'react'
import { asMoment } from '../../components/figures.ts'
import { TalkTimelineStrip } from '../../components/talk-timeline.tsx'
import { type CallTrack, columns, columnsOf, lanePath, type Mark, type Waveform } from './call-track.ts'
import classes from './timeline.module.css'

/** Heights of the drawings. Their width is one unit per column. */
const height = 64
const middle = height / 2
const laneHeight = 26
const turnsAt = 1.5
const marksHeight = 12
const shortStepSeconds = 5
const longStepSeconds = 30
/** Of the whole, where positions are not seconds. */
const shortStepShare = 0.02
const longStepShare = 0.1

interface TimelineStripProps extends DrawingProps {
  label: string
  position: number
  /** The position now, which the shown one may lag behind. */
  now: () => number
  onSeek: (position: number) => void
  /** The pointer has let go. */
  onPick: (position: number) => void
}

/** A call in time, as a slider: who speaks, what happened, and one playhead over all of it. */
export function TimelineStrip(props: TimelineStripProps) {
  const { label, position, now, onSeek, onPick, ...drawing } = props
  const { total, isTimed } = drawing.track
  const [hovered, setHovered] = useState<number | null>(null)
  const at = (event: PointerEvent<HTMLElement>) => {
    const { left, width } = event.currentTarget.getBoundingClientRect()
    return Math.max(0, Math.min(1, (event.clientX - left) / width)) * total
  }
  const onKey = (event: KeyboardEvent) => {
    const target = keyTarget(event.key, { position: now(), end: total, isTimed })
    if (target === null) return
    event.preventDefault()
    onSeek(target)
  }
  const words = isTimed
    ? `${asMoment(position)} of ${asMoment(total)}`
    : `${Math.round((position / total) * 100)}% of the call`
  return (
    <div
      role="slider"
      tabIndex={0}
      className={classes.strip}
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={isTimed ? Math.round(total) : 1}
      aria-valuenow={isTimed ? Math.round(position) : position}
      aria-valuetext={words}
      onKeyDown={onKey}
      onPointerDown={(event) => {
        if (event.button !== 0) return
        event.currentTarget.setPointerCapture(event.pointerId)
        onSeek(at(event))
      }}
      onPointerMove={(event) => {
        setHovered(at(event))
        if (event.currentTarget.hasPointerCapture(event.pointerId)) onSeek(at(event))
      }}
      onPointerUp={(event) => {
        if (event.currentTarget.hasPointerCapture(event.pointerId)) onPick(at(event))
      }}
      onPointerLeave={() => setHovered(null)}
    >
      <Drawing {...drawing} />
      <span className={classes.playhead} style={{ left: share(position, total) }} />
      {hovered !== null && isTimed && (
        <span className={classes.hovered} style={{ left: share(hovered, total) }} aria-hidden>
          <span>{asMoment(hovered)}</span>
        </span>
      )}
    </div>
  )
}

function share(position: number, total: number): string {
  return `${total > 0 ? Math.min(1, position / total) * 100 : 0}%`
}

function keyTarget(
  key: string,
  { position, end, isTimed }: { position: number; end: number; isTimed: boolean },
): number | null {
  const shortStep = isTimed ? shortStepSeconds : shortStepShare
  const longStep = isTimed ? longStepSeconds : longStepShare
  const steps: Record<string, number> = {
    ArrowLeft: -shortStep,
    ArrowDown: -shortStep,
    ArrowRight: shortStep,
    ArrowUp: shortStep,
    PageDown: -longStep,
    PageUp: longStep,
    Home: -position,
    End: end - position,
  }
  const step = steps[key]
  return step === undefined ? null : Math.max(0, Math.min(end, position + step))
}

interface DrawingProps {
  track: CallTrack
  /** Null where there is none: then the strip shows who speaks when. */
  waveform: Waveform | null
  /** Turns with a search match, and flagged turns. */
  matches: readonly number[]
  flags: readonly number[]
}

/** Redrawn only when it changes, not as time goes on. */
const Drawing = memo(({ track, waveform, matches, flags }: DrawingProps) => {
  const { talk, total, starts, marks } = track
  const columnsOfTurns = (turns: readonly number[]) =>
    columnsOf(
      turns.flatMap((turn) => starts[turn] ?? []),
      total,
    )
  const marked = { matches: columnsOfTurns(matches), flags: columnsOfTurns(flags) }
  return (
    <>
      {waveform ? (
        <>
          <Lanes track={track} waveform={waveform} {...marked} />
          <Gaps track={track} />
        </>
      ) : (
        <TalkTimelineStrip timeline={{ ...talk, tools: [], transfers: [] }} {...marked} />
      )}
      <svg
        className={classes.marks}
        viewBox={`0 0 ${columns} ${marksHeight}`}
        preserveAspectRatio="none"
        aria-hidden
      >
        {markKinds.map((kind) => (
          <path key={kind} data-mark={kind} d={marksOf(kind, columnsOf(marks[kind], total))} />
        ))}
      </svg>
    </>
  )
})

/** The last one is drawn over the others. */
const markKinds: readonly Mark[] = ['transfer', 'tool', 'retrieval', 'interruption', 'failed']

/** A silence is told in words if it has at least this share of the strip. */
const gapShareMin = 0.025

/** How long nobody is heard. */
function Gaps({ track: { heard, total } }: Pick<DrawingProps, 'track'>) {
  return heard?.deadAir
    .filter(([from, to]) => to - from >= gapShareMin * total)
    .map(([from, to]) => (
      <span
        key={from}
        className={classes.gap}
        style={{ left: share(from, total), width: share(to - from, total) }}
        aria-hidden
      >
        {Math.round(to - from)} s
      </span>
    ))
}

/** The recording's two lanes of sound, and who speaks by what is heard, or else by the turns. */
function Lanes({
  track: { talk, total, heard },
  waveform,
  matches,
  flags,
}: {
  track: CallTrack
  waveform: Waveform
  matches: readonly number[]
  flags: readonly number[]
}) {
  const width = total > 0 ? (waveform.seconds / total) * columns : columns
  const [first = [], second] = heard?.agentChannel === 0 ? waveform.lanes.toReversed() : waveform.lanes
  const lane = (levels: readonly number[], direction: 1 | -1) =>
    lanePath(levels, { width, middle, height: laneHeight, direction })
  const column = (at: number) => ((at / total) * columns).toFixed(2)
  const along = (spans: readonly (readonly [from: number, to: number])[], y: number) =>
    spans.map(([from, to]) => `M${column(from)} ${y}H${column(to)}`).join('')
  const talkOver = (side: 'caller' | 'agent') =>
    heard?.talkOver.flatMap(({ from, to, by }) => (by === side ? [[from, to] as const] : [])) ?? []
  // Turns without times are not shown: their places would be guesses.
  const turns = (levels: string, y: number) =>
    talk.seconds === null
      ? ''
      : [...levels.matchAll(/[1-9]+/g)].map(({ 0: run, index }) => `M${index} ${y}h${run.length}`).join('')
  return (
    <svg className={classes.wave} viewBox={`0 0 ${columns} ${height}`} preserveAspectRatio="none" aria-hidden>
      <path data-mark="gap" d={along(heard?.deadAir ?? [], middle)} />
      <path data-mark="over-caller" d={along(talkOver('caller'), middle)} />
      <path data-mark="over-agent" d={along(talkOver('agent'), middle)} />
      <path data-mark="match" d={ticks(matches, height)} />
      <path data-mark={second ? 'caller' : 'both'} d={lane(first, -1)} />
      <path data-mark={second ? 'agent' : 'both'} d={lane(second ?? first, 1)} />
      <path data-mark="caller-turns" d={heard ? along(heard.caller, turnsAt) : turns(talk.user, turnsAt)} />
      <path
        data-mark="agent-turns"
        d={heard ? along(heard.agent, height - turnsAt) : turns(talk.assistant, height - turnsAt)}
      />
      <path data-mark="flag" d={ticks(flags, 8)} />
    </svg>
  )
}

function ticks(places: readonly number[], tall: number): string {
  return places.map((column) => `M${column + 0.5} 0v${tall}`).join('')
}

/** Dots are lines of no length: their caps keep their shape however wide the strip is. */
function marksOf(kind: Mark, places: readonly number[]): string {
  if (kind === 'transfer' || kind === 'interruption') return ticks(places, marksHeight)
  return places.map((column) => `M${column + 0.5} ${marksHeight / 2}h0.001`).join('')
}
