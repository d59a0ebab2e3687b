import { Group, Skeleton, Text } from '@mantine/core'
import { IconArrowDownRight, IconArrowUpRight, IconMinus } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { dayLabel } from '../../components/dates.ts'
import { asCount, asDuration, asPercent } from '../../components/figures.ts'
import { PageButton } from '../../components/links.tsx'
import { Problem } from '../../components/problem.tsx'
import { to } from '../../components/to.ts'
import { useDates } from '../../components/use-dates.ts'
import { useProject } from '../../session.ts'
import { newestCallQuery } from '../calls/call-queries.ts'
import type { ChosenFilters } from '../calls/chosen-filters.ts'
import { useCompared } from '../charts/chart-queries.ts'
import type { Chart } from '../charts/chart-search.ts'
import charts from '../charts/charts.module.css'
import { type Compared, changeOf } from './changes.ts'
import classes from './overview.module.css'
import { labelBefore, type Period, periodUntil } from './overview-search.ts'

/** A period, and what is known of the one before it. */
export interface ComparedPeriod extends Period {
  /** The bounds of the period before; null where the project is younger, and until that is known. */
  earlier: { from: string; to: string } | null
  /** The first call of a project that is younger than the period before; else null. */
  since: string | null
}

interface FigureKind extends Omit<Chart, 'by'> {
  label: string
  format: (value: number) => string
  /** Null when more is neither better nor worse. */
  isMoreBetter: boolean | null
  /** The filters of the calls that a click opens. */
  filters: ChosenFilters
}

const kinds: FigureKind[] = [
  { of: 'calls', show: 'count', label: 'Calls', format: asCount, isMoreBetter: null, filters: {} },
  {
    of: 'success',
    show: 'share',
    label: 'Success rate',
    format: asPercent,
    isMoreBetter: true,
    filters: { evaluation: 'success' },
  },
  {
    of: 'duration',
    show: 'p50',
    label: 'Median duration',
    format: asDuration,
    isMoreBetter: null,
    filters: { status: 'completed' },
  },
  {
    of: 'isEngaged',
    show: 'share',
    label: 'Engagement',
    format: asPercent,
    isMoreBetter: true,
    filters: { isEngaged: 'true' },
  },
]

/** The four figures of a period, each with its change from the previous period. */
export function Figures({ period }: { period: ComparedPeriod }) {
  return (
    <dl className={`cb-box ${classes.figures}`}>
      {kinds.map((kind) => (
        <FigureCard key={kind.of} kind={kind} period={period} />
      ))}
    </dl>
  )
}

function FigureCard({ kind, period }: { kind: FigureKind; period: ComparedPeriod }) {
  const { of, show, label, format, isMoreBetter, filters } = kind
  const { earlier } = period
  const range = { from: period.from, to: period.to }
  const { query, compared } = useCompared({ of, show }, range, earlier)
  return (
    <div
      className={classes.figure}
      data-stale={query.isPlaceholderData || undefined}
      aria-busy={query.isPending}
    >
      <Text component="dt" c="dimmed" fw={500}>
        <Link {...to.calls} search={{ ...filters, ...period.filters }} className={charts.cover}>
          {label}
        </Link>
      </Text>
      {compared ? (
        <>
          <dd>
            <BigFigure>{compared.value === null ? '–' : format(compared.value)}</BigFigure>
          </dd>
          <dd>
            <ChangeOf
              figure={compared}
              unit={show === 'share' ? 'share' : 'amount'}
              isMoreBetter={isMoreBetter}
              period={period}
              format={format}
            />
          </dd>
        </>
      ) : query.error ? (
        <dd>
          <Problem error={query.error} onRetry={() => void query.refetch()} />
        </dd>
      ) : (
        <>
          <dd>
            <Skeleton height={24} width={88} my={4} />
          </dd>
          <dd>
            <Skeleton height={10} width={136} my={5} />
          </dd>
        </>
      )}
    </div>
  )
}

/** The one number that a card is about. */
export function BigFigure({ children }: { children: string }) {
  return (
    <Text component="strong" fz={22} fw={600} lh="32px" lts="-0.02em" className="cb-figure">
      {children}
    </Text>
  )
}

interface ChangeProps {
  figure: Compared
  unit: 'share' | 'amount'
  isMoreBetter: boolean | null
  period: Pick<ComparedPeriod, 'days' | 'since'>
  format: (value: number) => string
}

/** The change of a figure from the previous period. */
export function ChangeOf({ figure, unit, isMoreBetter, period: { days, since }, format }: ChangeProps) {
  const isYoung = since !== null
  const { value, before } = figure
  const change = changeOf(figure, unit)
  if (!change) {
    if (before === undefined || (isYoung && value !== null)) return null
    return <span className="cb-note">{value === null ? 'Not enough calls' : 'None before'}</span>
  }
  const { direction, amount } = change
  const Icon = { up: IconArrowUpRight, down: IconArrowDownRight, same: IconMinus }[direction]
  const word = { up: 'up', down: 'down', same: 'unchanged' }[direction]
  const isBetter =
    direction === 'same' || isMoreBetter === null ? null : (direction === 'up') === isMoreBetter
  return (
    <Group component="span" gap="0 6px" fz={12}>
      <Group
        component="span"
        gap={2}
        wrap="nowrap"
        fw={500}
        {...(isBetter !== null && { c: `var(--cb-${isBetter ? 'success' : 'danger'}-text)` })}
        className="cb-figure"
      >
        <Icon size={14} stroke={2} aria-hidden />
        <span className="cb-hidden">{word} </span>
        {direction === 'same' ? 'No change' : amount}
      </Group>
      <span className="cb-dimmed">
        was {format(before ?? 0)}
        <span className="cb-hidden"> in the {labelBefore(days)}</span>
      </span>
    </Group>
  )
}

/** For a period without calls: points to the newest calls. */
export function NoCallsInPeriod({ from, to }: Period) {
  const { id: project } = useProject()
  const dates = useDates()
  const { query } = useCompared({ of: 'calls', show: 'count' }, { from, to }, null)
  const { data } = useQuery(newestCallQuery(project))
  const newest = data?.data[0]
  if (query.data !== 0 || query.isPlaceholderData || !newest) return null
  // The figure may be older than the newest call.
  const at = Date.parse(newest.createdAt)
  if (at >= Date.parse(from) && at < Date.parse(to)) return null
  const day = dates.dayOf(newest.createdAt)
  return (
    <Group justify="space-between" gap="xs" mb="md" role="status">
      <span>No calls in this period. The newest call is from {dayLabel(day, { year: 'numeric' })}.</span>
      <PageButton
        to="/p/$project/overview"
        params={{ project }}
        search={periodUntil(day)}
        variant="default"
        size="xs"
      >
        Show that period
      </PageButton>
    </Group>
  )
}
