import { useLocalStorage, useMediaQuery } from '@mantine/hooks'
import {
  IconArrowRight,
  IconCheck,
  IconCircleCheckFilled,
  IconFlag,
  IconNote,
  IconVolumeOff,
  IconX,
} from '@tabler/icons-react'
import { memo, type ReactNode, type Ref, useEffect, useMemo, useState } from 'react'
import type { CallRow } from '../../../../calls/reading/call-rows.ts'
import type { TextMatch } from '../../../../calls/reading/text-match.ts'
import type { ReviewMarks as Marks } from '../../../../db/schema.ts'
import { asDollars, asDuration, asMilliseconds, spokenDuration } from '../../components/figures.ts'
import { Highlight } from '../../components/highlight.tsx'
import { useNow } from '../../components/instant.tsx'
import { asPhrase } from '../../components/phrase.ts'
import { Pulse, StatusBadge } from '../../components/status-badge.tsx'
import { TalkTimelineStrip } from '../../components/talk-timeline.tsx'
import { useDates } from '../../components/use-dates.ts'
import classes from './call-list.module.css'
import type { Order } from './chosen-filters.ts'
import { valueLabel } from './filter-labels.ts'

/** A column of the list. `px` is its width; the summary takes what is left, and at least so much. */
export interface Column {
  name: string
  label: string
  px: number
  isFigure?: boolean
  /** What sorts by it; with a minus, from the greatest on. */
  order?: Order
  /** @param time when the call began, with the day where no heading has it */
  cell: (row: CallRow, time: string) => ReactNode
}

type More = Pick<Column, 'isFigure' | 'order'>

function column(name: string, label: string, px: number, cell: Column['cell'], more: More = {}): Column {
  return { name, label, px, cell, ...more }
}

function figure(name: string, label: string, px: number, cell: Column['cell'], order?: Order): Column {
  return column(name, label, px, cell, { isFigure: true, ...(order && { order }) })
}

/** From left to right. */
export const columns: readonly Column[] = [
  column('when', 'Time', 76, ({ createdAt }, time) => <When at={createdAt} time={time} />, {
    order: 'createdAt',
  }),
  column('caller', 'Caller', 136, (row) => <Caller call={row} />),
  figure(
    'duration',
    'Duration',
    68,
    (row) => (row.status === 'live' ? <LiveDuration call={row} /> : <Duration seconds={row.duration} />),
    'duration',
  ),
  column(
    'density',
    'Conversation',
    96,
    ({ talkTimeline }) => talkTimeline && <TalkTimelineStrip timeline={talkTimeline} size="small" />,
  ),
  column('evaluation', 'Evaluation', 108, ({ status, evaluation, heardAt }) => (
    <>
      {status === 'live' && <LiveOrSilent heardAt={heardAt} />}
      {(status !== 'live' || evaluation !== null) && <Evaluation value={evaluation} />}
    </>
  )),
  column('review', 'Review', 32, ({ review }) => review && <ReviewIcon marks={review} />),
  column('agent', 'Agent', 92, ({ agentId, agentName }) => (
    <Named value={agentName ?? agentId} title={agentId} />
  )),
  column('version', 'Version', 88, ({ agentVersion }) => <Named value={agentVersion} />),
  figure(
    'cost',
    'Cost',
    88,
    ({ costUsd }) => <Figure text={costUsd === null ? null : asDollars(costUsd)} />,
    'cost',
  ),
  figure('latency', 'Latency', 88, ({ latencyMs }) => lasting(latencyMs), 'latency'),
  figure('wait', 'Waited longest', 112, ({ sound }) => lasting(sound?.responseMaxMs)),
  figure('deadAir', 'Dead air', 80, ({ sound }) => lasting(sound?.deadAirSeconds, 1_000)),
  figure('talkOver', 'Talked over', 96, ({ sound }) => lasting(sound?.talkOverSeconds, 1_000)),
  figure(
    'criteria',
    'Criteria',
    88,
    ({ criteria: { passed, judged } }) => (
      <Figure text={judged === 0 ? null : `${passed}/${judged}`} title={`${passed} of ${judged} passed`} />
    ),
    'criteria',
  ),
  column('engaged', 'Engaged', 80, ({ status, isEngaged }) =>
    status === 'live' && !isEngaged ? <Unknown>Not known yet</Unknown> : <Engagement isEngaged={isEngaged} />,
  ),
  column('source', 'Source', 104, ({ source }) => (
    <Named value={source && valueLabel('source', source)} title={source} />
  )),
  column('ended', 'End reason', 136, ({ endedReason }) => (
    <Named value={endedReason && asPhrase(endedReason)} title={endedReason} />
  )),
  column('labels', 'Labels', 136, ({ review }) => (
    <Named value={review?.labels.join(', ')} title={review?.labels.join('\n')} />
  )),
  column('assignee', 'Assigned to', 136, ({ review }) => <Named value={review?.assignee} title={null} />),
  column('summary', 'Summary', 240, (row) =>
    row.match ? <Match match={row.match} /> : <CallSummary call={row} />,
  ),
]

/** The columns of someone who has chosen none. */
const standard = ['when', 'caller', 'duration', 'density', 'evaluation', 'review', 'summary']
/** What a row of two lines shows, whatever columns are chosen. */
const ofTwoLines = ['caller', 'evaluation', 'review', 'when', 'summary', 'duration']

export interface ColumnChoice {
  shown: readonly Column[]
  /** Whether a row is two lines: beside an open call, and in a narrow window. */
  isTwoLines: boolean
  /** The names of those chosen. */
  chosen: string[]
  choose: (names: string[]) => void
}

/** The columns that a person has chosen in this browser. Without any, the standard ones are back. */
export function useColumns(isBesideCall: boolean): ColumnChoice {
  const atOnce = { getInitialValueInEffect: false }
  const hasRoomForAgent = useMediaQuery('(min-width: 1400px)', false, atOnce)
  const isNarrow = useMediaQuery('(max-width: 900px)', false, atOnce)
  const [stored, choose] = useLocalStorage<string[]>({ key: 'callbook-columns', defaultValue: [], ...atOnce })
  const isTwoLines = isBesideCall || isNarrow
  return useMemo(() => {
    const chosen = stored.length > 0 ? stored : [...standard, ...(hasRoomForAgent ? ['agent'] : [])]
    const shown = isTwoLines ? ofTwoLines : chosen
    return { shown: columns.filter(({ name }) => shown.includes(name)), isTwoLines, chosen, choose }
  }, [stored, choose, hasRoomForAgent, isTwoLines])
}

interface Place {
  /** The position in the list, from 0. */
  at: number
  ref: Ref<HTMLTableRowElement>
  shown: readonly Column[]
  /** Whether rows have a line of the transcript in them. */
  isSearch: boolean
}

interface CallLineProps extends Place {
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
export const CallLine = memo(function CallLine(props: CallLineProps) {
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
      <td data-cell="select" style={{ gridArea: 'select' }}>
        <input
          type="checkbox"
          className={`${classes.check} ${classes.hint}`}
          aria-label={`Select the call at ${time}`}
          tabIndex={-1}
          checked={isSelected}
          readOnly
        />
      </td>
      {shown.map(({ name, isFigure, cell }, place) => (
        <td
          key={name}
          data-cell={name}
          style={{ gridArea: name }}
          data-align={isFigure ? 'right' : undefined}
        >
          {place > 0 ? (
            cell(row, time)
          ) : (
            <a
              href={href}
              className={classes.link}
              tabIndex={isReached ? 0 : -1}
              aria-current={isOpen ? 'true' : undefined}
            >
              <span className="cb-hidden">Call </span>
              {cell(row, time)}
            </a>
          )}
        </td>
      ))}
    </tr>
  )
})

/** A placeholder of the row's height. */
export function CallLineSkeleton({ at, ref, shown, isSearch }: Place) {
  return (
    <tr ref={ref} data-index={at} data-search={isSearch || undefined} aria-hidden className={classes.line}>
      <td data-cell="select" style={{ gridArea: 'select' }} />
      {shown.map(({ name, isFigure }) => (
        <td
          key={name}
          data-cell={name}
          style={{ gridArea: name }}
          data-align={isFigure ? 'right' : undefined}
        />
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
  const [caller, called] = [callerNumber ?? 'Unknown caller', calledNumber ?? 'unknown number']
  return (
    <span className={`cb-figure cb-truncate ${classes.hint}`} title={`${caller} called ${called}`}>
      {caller} <IconArrowRight size={12} aria-label="called" role="img" />{' '}
      <span className="cb-dimmed">{called}</span>
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

interface NamedProps {
  value: string | null | undefined
  title?: string | null | undefined
}

function Named({ value, title = value }: NamedProps) {
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

/** The evaluation by a rubric, verbatim. */
export function Evaluation({ value }: { value: string | null }) {
  if (value === null) return <Unknown>Not evaluated</Unknown>
  const tone = value === 'success' ? 'success' : value === 'fail' ? 'danger' : 'neutral'
  const icon = { success: IconCheck, danger: IconX, neutral: undefined }[tone]
  return <StatusBadge tone={tone} icon={icon} label={valueLabel('evaluation', value)} />
}

/** The mark of a call in progress. */
export function LiveBadge() {
  return <StatusBadge tone="accent" icon={Pulse} label="Live" />
}

/** Whether the caller was engaged: a full dot or a ring, and a word for screen readers. */
function Engagement({ isEngaged }: { isEngaged: boolean }) {
  const word = isEngaged ? 'Engaged' : 'Not engaged'
  return (
    <span className={`${classes.engaged} ${classes.hint}`} data-engaged={isEngaged || undefined} title={word}>
      <span className="cb-hidden">{word}</span>
    </span>
  )
}

const silentAfterMs = 1_800_000

/** Whether nothing was heard of a live call for half an hour. @param heardAt ISO 8601 */
function useIsSilent(heardAt: string | null): boolean {
  const now = useNow()
  return heardAt !== null && now - Date.parse(heardAt) >= silentAfterMs
}

/** The mark of a live call, which is another one while it is silent. */
function LiveOrSilent({ heardAt }: { heardAt: string | null }) {
  if (!useIsSilent(heardAt)) return <LiveBadge />
  return (
    <StatusBadge
      tone="neutral"
      icon={IconVolumeOff}
      label={<span title="Nothing was heard of this call for 30 minutes.">Silent</span>}
    />
  )
}
