import type { TalkTimeline } from '../../../calls/reading/talk-timeline.ts'
import { asPercent, counted } from './figures.ts'
import classes from './talk-timeline.module.css'

/** Heights of the drawing. Its width is one unit per column. */
const laneHeight = 10
const middle = laneHeight + 1
const height = 2 * laneHeight + 2

interface TalkTimelineProps {
  timeline: TalkTimeline
  /** `small` is for a row of a list. */
  size?: 'small' | 'large'
  /** Columns with a search match, and columns with a flagged turn. */
  matches?: readonly number[]
  flags?: readonly number[]
}

/** Who speaks when: the caller above the line, the agent below it, silence between, tools and matches as marks. */
export function TalkTimelineStrip({ timeline, size = 'large', matches = [], flags = [] }: TalkTimelineProps) {
  const { user, assistant, tools, transfers } = timeline
  return (
    <svg
      className={classes.strip}
      data-size={size}
      viewBox={`0 0 ${user.length} ${height}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={spokenTalkTimeline(timeline)}
    >
      {drawn('silence', `M0 ${middle}H${user.length}`)}
      {drawn('match', ticks(matches, 0, height))}
      {drawn('user', lane(user, -1))}
      {drawn('assistant', lane(assistant, 1))}
      {drawn('tool', ticks(tools, middle - 4, 8))}
      {drawn('transfer', ticks(transfers, 0, height))}
      {drawn('flag', ticks(flags, 0, 5))}
    </svg>
  )
}

/** A path of the strip; none if it is empty, because a list has many strips. */
function drawn(what: string, path: string) {
  return path && <path data-mark={what} d={path} />
}

/** `The caller speaks 35% of the time, the agent 50%; 2 tool calls`: the text for screen readers. */
function spokenTalkTimeline({ shares, tools, transfers }: TalkTimeline): string {
  const speakers = `The caller speaks ${asPercent(shares.user)} of the time, the agent ${asPercent(shares.assistant)}`
  const events = [
    ...(tools.length > 0 ? [counted(tools.length, 'tool call')] : []),
    ...(transfers.length > 0 ? [counted(transfers.length, 'transfer')] : []),
  ]
  return [speakers, ...events].join('; ')
}

/** One path however many turns there are: a box for each run of equal columns, up or down from the middle. */
function lane(levels: string, direction: 1 | -1): string {
  let path = ''
  // Rounds the ends of a turn that fills whole columns, so that it is drawn as one box.
  const snapped = levels.replace(/[1-8](?=9)|(?<=9)[1-8]/g, (level) => (level >= '5' ? '9' : '0'))
  for (const { 0: run, index } of snapped.matchAll(/([1-9])\1*/g)) {
    const tall = (Number(run[0]) / 9) * laneHeight * direction
    path += `M${index} ${middle + direction * 0.5}h${run.length}v${tall.toFixed(1)}h${-run.length}z`
  }
  return path
}

function ticks(columns: readonly number[], from: number, tall: number): string {
  return columns.map((column) => `M${column + 0.5} ${from}v${tall}`).join('')
}
