import { Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { Figure, OverviewFigures } from '../../../../calls/reading/overview.ts'
import { asCount, asDuration, asPercent } from '../../components/figures.ts'
import { Problem } from '../../components/problem.tsx'
import { useProject } from '../../session.ts'
import type { ChosenFilters } from '../calls/chosen-filters.ts'
import { ChangeOf } from './change-of.tsx'
import classes from './figures.module.css'
import { NoCallsInPeriod } from './no-calls-in-period.tsx'
import { figuresQuery } from './overview-queries.ts'
import type { Period } from './overview-search.ts'

interface FigureKind {
  name: keyof OverviewFigures
  label: string
  format: (value: number) => string
  unit: 'share' | 'amount'
  /** Null when more is neither better nor worse. */
  isMoreBetter: boolean | null
  /** The filters of the calls that a click opens. */
  filters: ChosenFilters
}

const kinds: FigureKind[] = [
  { name: 'calls', label: 'Calls', format: asCount, unit: 'amount', isMoreBetter: null, filters: {} },
  {
    name: 'successRate',
    label: 'Success rate',
    format: asPercent,
    unit: 'share',
    isMoreBetter: true,
    filters: { evaluation: 'success' },
  },
  {
    name: 'medianDuration',
    label: 'Median duration',
    format: asDuration,
    unit: 'amount',
    isMoreBetter: null,
    filters: { status: 'completed' },
  },
  {
    name: 'engagement',
    label: 'Engagement',
    format: asPercent,
    unit: 'share',
    isMoreBetter: true,
    filters: { isEngaged: 'true' },
  },
]

/** The four figures of a period, each with its change from the previous period. */
export function Figures({ period }: { period: Period }) {
  const project = useProject()
  const { data, error, isPlaceholderData, refetch } = useQuery(figuresQuery(project.id, period))
  if (error && !data) {
    return (
      <div className={classes.figuresProblem}>
        <Problem title="The figures could not be loaded" error={error} onRetry={() => void refetch()} />
      </div>
    )
  }
  return (
    <>
      {data && !isPlaceholderData && data.calls.value === 0 && <NoCallsInPeriod {...period} />}
      <dl
        className={classes.figures}
        aria-busy={data === undefined}
        data-stale={isPlaceholderData || undefined}
      >
        {kinds.map((kind) => (
          <FigureCard key={kind.name} kind={kind} figure={data?.[kind.name]} period={period} />
        ))}
      </dl>
    </>
  )
}

interface FigureCardProps {
  kind: FigureKind
  figure: Figure | undefined
  period: Period
}

function FigureCard({
  kind: { label, format, unit, isMoreBetter, filters },
  figure,
  period,
}: FigureCardProps) {
  const project = useProject()
  const { from, to } = period
  return (
    <div className={classes.figureCard}>
      <dt>
        <Link
          to="/p/$project/calls"
          params={{ project: project.id }}
          search={{ ...filters, from, to }}
          className={classes.figureLink}
        >
          {label}
        </Link>
      </dt>
      {figure ? (
        <>
          <dd className={classes.figureValue}>{figure.value === null ? '–' : format(figure.value)}</dd>
          <dd className={classes.figureChange}>
            <ChangeOf
              figure={figure}
              unit={unit}
              isMoreBetter={isMoreBetter}
              days={period.days}
              format={format}
            />
          </dd>
        </>
      ) : (
        <>
          <dd className={classes.figureValue}>
            <Skeleton height={24} width={88} />
          </dd>
          <dd className={classes.figureChange}>
            <Skeleton height={10} width={136} />
          </dd>
        </>
      )}
    </div>
  )
}
