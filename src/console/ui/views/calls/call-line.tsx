import { IconArrowRight, IconCircleCheckFilled, IconFlag, IconNote } from '@tabler/icons-react'
import { memo, type ReactNode, type Ref, useEffect, useState } from 'react'
import type { CallRow } from '../../../../calls/reading/call-rows.ts'
import type { TextMatch } from '../../../../calls/reading/text-match.ts'
import type { ReviewMarks as Marks } from '../../../../db/schema.ts'
import { asDollars, asDuration, asMilliseconds, spokenDuration } from '../../components/figures.ts'
import { Highlight } from '../../components/highlight.tsx'
import { useFormatNumber } from '../../components/phone-number.ts'
import { asPhrase } from '../../components/phrase.ts'
import { TalkTimelineStrip } from '../../components/talk-timeline.tsx'
import { useDates } from '../../components/use-dates.ts'
import classes from './call-list.module.css'
import { type ColumnName, columns, isFigure } from './columns.ts'
import { Engagement, Evaluation, LiveOrSilent } from './evaluation.tsx'
import { valueLabel } from './filter-labels.ts'

interface Place {
  /** The position in the list, from 0. */
  at: number
  ref: Ref<HTMLTableRowElement>
  /** The columns that are shown. */
  shown: ReadonlySet<ColumnName>
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
 * One call of the list, which handles its clicks. Its link covers the row except what the mouse can hover or select.
 * Memoized and without library components, because a list has many rows.
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
      <td data-cell="when">
        <a
          href={href}
          className={classes.link}
          tabIndex={isReached ? 0 : -1}
          aria-current={isOpen ? 'true' : undefined}
        >
          <span className="cb-hidden">Call </span>
          <time
            dateTime={row.createdAt}
            title={dates.exact(row.createdAt)}
            className={`cb-figure ${classes.hint}`}
          >
            {time}
          </time>
        </a>
      </td>
      {columns.map(
        ({ name }) =>
          name !== 'when' &&
          shown.has(name) && (
            <td key={name} data-cell={name} data-align={isFigure(name) ? 'right' : undefined}>
              {cells[name](row)}
            </td>
          ),
      )}
    </tr>
  )
})

/** The content of each column but the first. */
const cells: Record<Exclude<ColumnName, 'when'>, (row: CallRow) => ReactNode> = {
  numbers: ({ callerNumber, calledNumber }) => <Numbers from={callerNumber} to={calledNumber} />,
  duration: (row) => <RowDuration row={row} />,
  density: ({ talkTimeline }) => talkTimeline && <TalkTimelineStrip timeline={talkTimeline} size="small" />,
  evaluation: ({ status, evaluation, heardAt }) => (
    <>
      {status === 'live' && <LiveOrSilent heardAt={heardAt} />}
      {(status !== 'live' || evaluation !== null) && <Evaluation value={evaluation} />}
    </>
  ),
  cost: ({ costUsd }) => <Figure text={costUsd === null ? null : asDollars(costUsd)} />,
  latency: ({ latencyMs }) => <Figure text={latencyMs === null ? null : asMilliseconds(latencyMs)} />,
  criteria: ({ criteria: { passed, judged } }) => (
    <Figure text={judged === 0 ? null : `${passed}/${judged}`} title={`${passed} of ${judged} passed`} />
  ),
  review: ({ review }) => review && <ReviewMarks marks={review} />,
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
  summary: (row) => (row.match ? <Match match={row.match} /> : <Summary row={row} />),
}

/** A placeholder of the row's height. */
export function CallLineSkeleton({ at, ref, shown, isSearch }: Place) {
  const cells = ['select', ...columns.flatMap(({ name }) => (shown.has(name) ? [name] : []))]
  return (
    <tr ref={ref} data-index={at} data-search={isSearch || undefined} aria-hidden className={classes.line}>
      {cells.map((cell) => (
        <td key={cell} data-cell={cell} data-align={isFigure(cell) ? 'right' : undefined} />
      ))}
    </tr>
  )
}

/** `+1555… → +1555…`: who called whom. */
export function Numbers({ from, to }: { from: string | null; to: string | null }) {
  if (from === null && to === null) return <Unknown>Numbers unknown</Unknown>
  return (
    <span className={classes.numbers}>
      <PhoneNumber value={from} unknown="Unknown caller" />
      <span className={classes.called}>
        <IconArrowRight size={12} aria-label="called" role="img" />
        <PhoneNumber value={to} unknown="unknown number" />
      </span>
    </span>
  )
}

function PhoneNumber({ value, unknown }: { value: string | null; unknown: string }) {
  const formatNumber = useFormatNumber()
  if (value === null) return <span className="cb-dimmed cb-truncate">{unknown}</span>
  return (
    <span className={`cb-figure cb-truncate ${classes.hint}`} title={value}>
      {formatNumber(value)}
    </span>
  )
}

/** Whether a person reviewed the call, who, and whether there is a note or a flag. */
function ReviewMarks({ marks: { reviewed, noted, flagged, by } }: { marks: Marks }) {
  const who = by ?? 'somebody'
  return (
    <span className={classes.marks}>
      {reviewed && (
        <>
          <IconCircleCheckFilled size={14} className={classes.reviewed} role="img" aria-label="Reviewed by" />
          <span
            className={`cb-truncate ${classes.by} ${classes.hint}`}
            title={`Reviewed by ${who}`}
            dir="auto"
          >
            {who}
          </span>
        </>
      )}
      {noted && <Mark icon={<IconNote size={14} aria-hidden />} words="Has a note" />}
      {flagged && <Mark icon={<IconFlag size={14} aria-hidden />} words="Has flagged turns" />}
    </span>
  )
}

/** An icon, and its words for the mouse and for screen readers. */
function Mark({ icon, words }: { icon: ReactNode; words: string }) {
  return (
    <span className={`${classes.mark} ${classes.hint}`} title={words}>
      {icon}
      <span className="cb-hidden">{words}</span>
    </span>
  )
}

/** For a live call, the time since it began. */
function RowDuration({ row }: { row: CallRow }) {
  if (row.status === 'live') return <RunningDuration since={row.createdAt} />
  return <Duration seconds={row.duration} />
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
    <span className={classes.match}>
      {speaker && <span className="cb-dimmed">{speaker}: </span>}
      <Highlight text={text} ranges={ranges} />
    </span>
  )
}

function Summary({ row: { summary, said, status, endedReason } }: { row: CallRow }) {
  if (summary) return <span className="cb-truncate">{summary}</span>
  if (said) return <span className="cb-truncate cb-dimmed">“{said}”</span>
  const instead = status === 'live' ? 'In progress' : endedReason ? asPhrase(endedReason) : 'No summary'
  return <span className="cb-truncate cb-dimmed">{instead}</span>
}
