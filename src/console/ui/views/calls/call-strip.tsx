import { type MouseEvent, useMemo } from 'react'
import { type TalkTimeline, talkTimelineOf, turnStarts } from '../../../../calls/reading/talk-timeline.ts'
import type { Call, CallDetails } from '../../../../calls/schemas.ts'
import { asDuration } from '../../components/figures.ts'
import { TalkTimelineStrip } from '../../components/talk-timeline.tsx'
import classes from './transcript.module.css'
import type { TurnMatch } from './turn-matches.ts'

const columns = 240

interface CallStripProps {
  call: Call
  details: CallDetails | undefined
  matches: readonly TurnMatch[]
  onPick: (turn: number) => void
}

/** The talk timeline of a conversation. A click scrolls to that moment. */
export function CallStrip({ call, details, matches, onPick }: CallStripProps) {
  const { transcript, duration } = call
  const timeline = details?.timeline ?? none
  const talkTimeline = useMemo(
    () => talkTimelineOf(transcript, timeline, duration, columns),
    [transcript, timeline, duration],
  )
  const starts = useMemo(() => turnStarts(transcript, timeline, duration), [transcript, timeline, duration])
  const columnsOf = (turns: readonly number[]) => [
    ...new Set(turns.map((turn) => Math.min(columns - 1, Math.floor((starts[turn] ?? 0) * columns)))),
  ]
  const pick = ({ clientX, currentTarget }: MouseEvent<HTMLElement>) => {
    const { left, width } = currentTarget.getBoundingClientRect()
    const turn = starts.findLastIndex((start) => start <= (clientX - left) / width)
    if (turn >= 0) onPick(turn)
  }
  if (transcript.length === 0) return null
  return (
    <div className={classes.strip}>
      {/* The transcript below has the same turns, for keys and screen readers. */}
      <button type="button" tabIndex={-1} className={classes.stripButton} onClick={pick}>
        <TalkTimelineStrip
          timeline={talkTimeline}
          matches={columnsOf(matches.map(({ turn }) => turn))}
          flags={columnsOf(details?.review?.flaggedTurns ?? [])}
        />
      </button>
      <StripLegend timeline={talkTimeline} flags={details?.review?.flaggedTurns} />
    </div>
  )
}

interface StripLegendProps {
  timeline: TalkTimeline
  flags: readonly number[] | undefined
}

/** What the colours of a strip mean, and how long it is. */
export function StripLegend({ timeline: { tools, seconds }, flags = [] }: StripLegendProps) {
  return (
    <span className={classes.stripLegend} aria-hidden>
      <span data-speaker="user">Caller</span>
      <span data-speaker="assistant">Agent</span>
      {tools.length > 0 && <span data-speaker="tool">Tools</span>}
      {flags.length > 0 && <span data-speaker="flag">Flags</span>}
      <span className={classes.stripEnd}>{seconds === null ? '' : asDuration(seconds)}</span>
    </span>
  )
}

const none: CallDetails['timeline'] = []
