import { Skeleton } from '@mantine/core'
import { IconArrowRight } from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import type { Ref } from 'react'
import type { CallRow } from '../../../../calls/call-rows.ts'
import type { TextMatch } from '../../../../calls/text-match.ts'
import { asDuration } from '../../components/figures.ts'
import { Highlight } from '../../components/highlight.tsx'
import { Instant } from '../../components/instant.tsx'
import { formatNumber } from '../../components/phone-number.ts'
import { asReason } from '../../components/reason.ts'
import { useProject } from '../../session.ts'
import type { ChosenFilters } from './chosen-filters.ts'
import { spokenDuration } from './duration.ts'
import { Engagement, Evaluation, LiveBadge } from './evaluation.tsx'
import type { OpenTab } from './open-tab.ts'

interface Place {
  /** In the list, from 0. */
  at: number
  ref: Ref<HTMLTableRowElement>
}

interface CallLineProps {
  row: CallRow
  isOpen: boolean
  /** What the address says beside the call. */
  search: ChosenFilters & OpenTab
}

/** One call of the list. Its link covers the whole row. */
export function CallLine({ row, isOpen, search, at, ref }: Place & CallLineProps) {
  const project = useProject()
  return (
    <tr
      ref={ref}
      data-index={at}
      data-call={row.id}
      data-open={isOpen || undefined}
      data-search={search.text !== undefined || undefined}
      aria-rowindex={at + 2}
      className="cb-calls-line"
    >
      <td data-cell="when">
        <Link
          to="/p/$project/calls/$call"
          params={{ project: project.id, call: row.id }}
          search={search}
          resetScroll={false}
          preload={false}
          className="cb-calls-link"
          aria-current={isOpen ? 'true' : undefined}
        >
          <span className="cb-hidden">Call </span>
          <Instant at={row.createdAt} />
        </Link>
      </td>
      <td data-cell="numbers">
        <Numbers from={row.callerNumber} to={row.calledNumber} />
      </td>
      <td data-cell="duration" data-align="right">
        <Duration seconds={row.duration} />
      </td>
      <td data-cell="evaluation">
        {row.status === 'live' && <LiveBadge />}
        {(row.status !== 'live' || row.evaluation !== null) && <Evaluation value={row.evaluation} />}
      </td>
      <td data-cell="engaged">
        <Engagement isEngaged={row.isEngaged} />
      </td>
      <td data-cell="summary">{row.match ? <Match match={row.match} /> : <Summary row={row} />}</td>
    </tr>
  )
}

/** As high as the row that will be there. */
export function CallLineSkeleton({ at, ref, isSearch }: Place & { isSearch: boolean }) {
  const cells = ['when', 'numbers', 'duration', 'evaluation', 'engaged', 'summary'] as const
  const widths = { when: 64, numbers: 200, duration: 32, evaluation: 72, engaged: 8, summary: '70%' }
  return (
    <tr ref={ref} data-index={at} data-search={isSearch || undefined} aria-hidden className="cb-calls-line">
      {cells.map((cell) => (
        <td key={cell} data-cell={cell} data-align={cell === 'duration' ? 'right' : undefined}>
          <Skeleton height={10} width={widths[cell]} maw="100%" display="inline-block" />
        </td>
      ))}
    </tr>
  )
}

/** `+1555… → +1555…`: who called whom. */
export function Numbers({ from, to }: { from: string | null; to: string | null }) {
  if (from === null && to === null) return <span className="cb-dimmed">Numbers unknown</span>
  return (
    <span className="cb-calls-numbers">
      <PhoneNumber value={from} unknown="Unknown caller" />
      <IconArrowRight size={12} aria-label="called" role="img" />
      <PhoneNumber value={to} unknown="unknown number" />
    </span>
  )
}

function PhoneNumber({ value, unknown }: { value: string | null; unknown: string }) {
  if (value === null) return <span className="cb-dimmed cb-truncate">{unknown}</span>
  return <span className="cb-figure cb-truncate">{formatNumber(value)}</span>
}

/** `3:07`, and in words for who hears it. */
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

function Match({ match: { where, text, ranges } }: { match: TextMatch }) {
  const speaker = { user: 'Caller', assistant: 'Agent', summary: null }[where]
  return (
    <span className="cb-calls-match">
      {speaker && <span className="cb-dimmed">{speaker}: </span>}
      <Highlight text={text} ranges={ranges} />
    </span>
  )
}

function Summary({ row: { summary, status, endedReason } }: { row: CallRow }) {
  if (summary) return <span className="cb-truncate">{summary}</span>
  const instead = status === 'live' ? 'In progress' : endedReason ? asReason(endedReason) : 'No summary'
  return <span className="cb-truncate cb-dimmed">{instead}</span>
}
