import { IconArrowRight, IconCircleCheckFilled, IconFlag, IconNote } from '@tabler/icons-react'
import { memo, type ReactNode, type Ref, useEffect, useState } from 'react'
import type { CallRow } from '../../../../calls/reading/call-rows.ts'
import type { TextMatch } from '../../../../calls/reading/text-match.ts'
import type { ReviewMarks as Marks } from '../../../../db/schema.ts'
import { asDollars, asDuration, asMilliseconds, spokenDuration } from '../../components/figures.ts'
import { Highlight } from '../../components/highlight.tsx'
import { asPhrase } from '../../components/phrase.ts'
import { TalkTimelineStrip } from '../../components/talk-timeline.tsx'
import { useDates } from '../../components/use-dates.ts'
import classes from './call-list.module.css'
import type { Column, ColumnName } from './columns.ts'
import { Engagement, Evaluation, LiveOrSilent, useIsSilent } from './evaluation.tsx'
import { valueLabel } from './filter-labels.ts'

interface Place {
  /** The position in the list, from 0. */
  at: number
  ref: Ref<HTMLTableRowElement>
  shown: readonly Column[]
  /** Whether rows have a line of the transcript in them. */
  isSearch: boolean
}

interface CallLineProps {
  row: CallRow
  /** The address of the call. */
  href: string
  isOpen: boolean
  isSelected: boolean
  /** Whether Tab reaches the row: it does for one row of the list. */
  isReached: boolean
  /** Whether the row is below the heading of its day. */
  isUnderDay: boolean
}

/**
 * One call of the list, which handles its clicks. The link in its first cell covers the row except what the mouse can hover
 * or select. Memoized and without library components, because a list has many rows.
 */
export const CallLine = memo(function CallLine(props: Place & CallLineProps) {
  const { row, href, isOpen, isSelected, isReached, isUnderDay, at, ref, shown, isSearch } = props
  const dates = useDates()
  const time = isUnderDay ? dates.time(row.createdAt) : dates.moment(row.createdAt)
  return (
    <tr
      ref={ref}
      data-index={at}
      data-call={row.id}
      data-open={isOpen || undefined}
      data-selected={isSelected || undefined}
      data-search={isSearch || undefined}
      aria-rowindex={at + 2}
      className={classes.line}
    >
      <td data-cell="select">
        <input
          type="checkbox"
          className={`${classes.check} ${classes.hint}`}
          aria-label={`Select the call at ${time}`}
          tabIndex={-1}
          checked={isSelected}
          readOnly
        />
      </td>
      {shown.map(({ name, isFigure }, place) => (
        <td key={name} data-cell={name} data-align={isFigure ? 'right' : undefined}>
          {place > 0 ? (
            cells[name](row, time)
          ) : (
            <a
              href={href}
              className={classes.link}
              tabIndex={isReached ? 0 : -1}
              aria-current={isOpen ? 'true' : undefined}
            >
              <span className="cb-hidden">Call </span>
              {cells[name](row, time)}
            </a>
          )}
        </td>
      ))}
    </tr>
  )
})

const cells: Record<ColumnName, (row: CallRow, time: string) => ReactNode> = {
  when: ({ createdAt }, time) => <When at={createdAt} time={time} />,
  caller: (row) => <Caller call={row} />,
  duration: (row) =>
    row.status === 'live' ? <LiveDuration call={row} /> : <Duration seconds={row.duration} />,
  density: ({ talkTimeline }) => talkTimeline && <TalkTimelineStrip timeline={talkTimeline} size="small" />,
  evaluation: ({ status, evaluation, heardAt }) => (
    <>
      {status === 'live' && <LiveOrSilent heardAt={heardAt} />}
      {(status !== 'live' || evaluation !== null) && <Evaluation value={evaluation} />}
    </>
  ),
  cost: ({ costUsd }) => <Figure text={costUsd === null ? null : asDollars(costUsd)} />,
  latency: ({ latencyMs }) => lasting(latencyMs),
  wait: ({ sound }) => lasting(sound?.responseMaxMs),
  deadAir: ({ sound }) => lasting(sound?.deadAirSeconds, 1_000),
  talkOver: ({ sound }) => lasting(sound?.talkOverSeconds, 1_000),
  criteria: ({ criteria: { passed, judged } }) => (
    <Figure text={judged === 0 ? null : `${passed}/${judged}`} title={`${passed} of ${judged} passed`} />
  ),
  review: ({ review }) => review && <ReviewIcon marks={review} />,
  assignee: ({ review }) => <Named value={review?.assignee ?? null} title={null} />,
  agent: ({ agentId, agentName }) => <Named value={agentName ?? agentId} title={agentId} />,
  version: ({ agentVersion }) => <Named value={agentVersion} title={agentVersion} />,
  engaged: ({ status, isEngaged }) =>
    status === 'live' && !isEngaged ? <Unknown>Not known yet</Unknown> : <Engagement isEngaged={isEngaged} />,
  source: ({ source }) => <Named value={source && valueLabel('source', source)} title={source} />,
  ended: ({ endedReason }) => <Named value={endedReason && asPhrase(endedReason)} title={endedReason} />,
  labels: ({ review }) => (
    <Named value={review?.labels.join(', ') ?? null} title={review?.labels.join('\n') ?? null} />
  ),
  summary: (row) => (row.match ? <Match match={row.match} /> : <CallSummary call={row} />),
}

/** A placeholder of the row's height. */
export function CallLineSkeleton({ at, ref, shown, isSearch }: Place) {
  return (
    <tr ref={ref} data-index={at} data-search={isSearch || undefined} aria-hidden className={classes.line}>
      <td data-cell="select" />
      {shown.map(({ name, isFigure }) => (
        <td key={name} data-cell={name} data-align={isFigure ? 'right' : undefined} />
      ))}
    </tr>
  )
}

function When({ at, time }: { at: string; time: string }) {
  const dates = useDates()
  return (
    <time dateTime={at} title={dates.exact(at)} className={`cb-figure ${classes.hint}`}>
      {time}
    </time>
  )
}

/** Who the call was with, whoever called. Its title has both numbers as they are stored. */
export function Caller({
  call: { callerNumber, calledNumber, numbers, direction },
}: {
  call: Pick<CallRow, 'callerNumber' | 'calledNumber' | 'numbers' | 'direction'>
}) {
  const isOutbound = direction === 'outbound'
  const [person, own] = isOutbound ? [calledNumber, callerNumber] : [callerNumber, calledNumber]
  const shown = isOutbound ? numbers.calledNumber : numbers.callerNumber
  const title = [person, own && `${isOutbound ? 'called from' : 'called'} ${own}`].filter(Boolean).join(' ')
  return (
    <span
      className={`${person ? 'cb-figure' : 'cb-dimmed'} cb-truncate ${classes.hint}`}
      title={title || undefined}
    >
      {shown || (direction === 'web' ? 'Web call' : 'Unknown caller')}
    </span>
  )
}

/** `+1555… → +1555…`: who called whom. */
export function Numbers({ of: { callerNumber, calledNumber } }: { of: CallRow['numbers'] }) {
  if (callerNumber === null && calledNumber === null) return <Unknown>Numbers unknown</Unknown>
  return (
    <span className={classes.numbers}>
      <PhoneNumber value={callerNumber} unknown="Unknown caller" />
      <span className={classes.called}>
        <IconArrowRight size={12} aria-label="called" role="img" />
        <PhoneNumber value={calledNumber} unknown="unknown number" />
      </span>
    </span>
  )
}

function PhoneNumber({ value, unknown }: { value: string | null; unknown: string }) {
  if (value === null) return <span className="cb-dimmed cb-truncate">{unknown}</span>
  return (
    <span className={`cb-figure cb-truncate ${classes.hint}`} title={value}>
      {value}
    </span>
  )
}

/** Whether a person reviewed the call, and otherwise a flag or a note. Its title has all of them, and who. */
function ReviewIcon({ marks: { reviewed, noted, flagged, by } }: { marks: Marks }) {
  const marks = [
    ...(reviewed ? [{ Icon: IconCircleCheckFilled, words: `Reviewed by ${by ?? 'somebody'}` }] : []),
    ...(flagged ? [{ Icon: IconFlag, words: 'Has flagged turns' }] : []),
    ...(noted ? [{ Icon: IconNote, words: 'Has a note' }] : []),
  ]
  const [first] = marks
  if (!first) return null
  const words = marks.map((mark) => mark.words).join('. ')
  return (
    <span className={`${classes.mark} ${classes.hint}`} title={words} data-reviewed={reviewed || undefined}>
      <first.Icon size={14} role="img" aria-label={words} />
    </span>
  )
}

/** For a live call the time since it began, and for a silent one the time until it was last heard. */
function LiveDuration({ call: { createdAt, heardAt } }: { call: CallRow }) {
  if (!useIsSilent(heardAt)) return <RunningDuration since={createdAt} />
  return (
    <Duration seconds={Math.max(0, (Date.parse(heardAt ?? createdAt) - Date.parse(createdAt)) / 1_000)} />
  )
}

/** A running `0:12`. */
export function RunningDuration({ since }: { since: string }) {
  const [now, setNow] = useState(() => Date.now())
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1_000)
    return () => clearInterval(timer)
  }, [])
  const seconds = Math.max(0, Math.floor((now - Date.parse(since)) / 1_000))
  return <span className={`cb-figure ${classes.running}`}>{asDuration(seconds)}</span>
}

/** `3:07`, and in words for screen readers. */
export function Duration({ seconds }: { seconds: number }) {
  return (
    <>
      <span aria-hidden className="cb-figure">
        {asDuration(seconds)}
      </span>
      <span className="cb-hidden">{spokenDuration(seconds)}</span>
    </>
  )
}

function Figure({ text, title }: { text: string | null; title?: string }) {
  if (text === null) return <Unknown>Unknown</Unknown>
  return (
    <span className={`cb-figure ${classes.hint}`} title={title}>
      {text}
    </span>
  )
}

function lasting(value: number | null | undefined, ms = 1): ReactNode {
  return <Figure text={typeof value === 'number' ? asMilliseconds(value * ms) : null} />
}

function Named({ value, title }: { value: string | null; title: string | null }) {
  if (!value) return <Unknown>None</Unknown>
  return (
    <span className={`cb-truncate ${classes.named} ${classes.hint}`} title={title ?? undefined}>
      {value}
    </span>
  )
}

/** A dash, and a word for screen readers. */
export function Unknown({ children }: { children: string }) {
  return (
    <span className="cb-dimmed" title={children}>
      <span aria-hidden>–</span>
      <span className="cb-hidden">{children}</span>
    </span>
  )
}

function Match({ match: { where, text, ranges } }: { match: TextMatch }) {
  const speaker = { user: 'Caller', assistant: 'Agent', summary: null }[where]
  return (
    <span className={classes.match} dir="auto">
      {speaker && <span className="cb-dimmed">{speaker}: </span>}
      <Highlight text={text} ranges={ranges} />
    </span>
  )
}

/** What a call was about, in a line: without a summary what the caller said first, or else how it ended. */
export function CallSummary({
  call: { summary, said, status, endedReason },
}: {
  call: Pick<CallRow, 'summary' | 'said' | 'status' | 'endedReason'>
}) {
  const instead = status === 'live' ? 'In progress' : endedReason ? asPhrase(endedReason) : 'No summary'
  return (
    <span className={summary ? 'cb-truncate' : 'cb-truncate cb-dimmed'} dir="auto">
      {summary || (said ? `“${said}”` : instead)}
    </span>
  )
}
