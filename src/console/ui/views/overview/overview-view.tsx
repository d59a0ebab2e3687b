import { Button, Group, Title } from '@mantine/core'
import { IconArrowLeft, IconArrowRight, IconEyeOff, IconLayoutGrid, IconPlus } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { lazy, type ReactNode, Suspense, useState } from 'react'
import { IconButton } from '../../components/icon-button.tsx'
import { useNow, ZoneNote } from '../../components/instant.tsx'
import { PageButton } from '../../components/links.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { Problem } from '../../components/problem.tsx'
import { to } from '../../components/to.ts'
import { useDates } from '../../components/use-dates.ts'
import { useProject } from '../../session.ts'
import { newestCallQuery } from '../calls/call-queries.ts'
import { groupingsOf, isOrdered } from '../charts/chart.ts'
import type { ChartSearch } from '../charts/chart-search.ts'
import charts from '../charts/charts.module.css'
import { type OverviewItem, useArrangement } from './arrangement.ts'
import { Criteria, FailedCalls, KnowledgeCard, LiveCalls } from './cards.tsx'
import { AnswersHeard, ChartCard } from './chart-card.tsx'
import { type ComparedPeriod, Figures, NoCallsInPeriod } from './figures.tsx'
import classes from './overview.module.css'
import { oldestCallQuery } from './overview-queries.ts'
import { labelBefore, type OverviewSearch, periodLabel, periodOf } from './overview-search.ts'
import { PeriodPicker } from './period-picker.tsx'

const FirstSteps = lazy(() => import('../first-steps/first-steps.tsx'))

/** What a new chart begins with. */
const newChart: ChartSearch = { of: 'success', show: 'failed', by: 'agentId', date: 'last-14-days' }

/** The calls of a period in figures and charts. */
export function OverviewView() {
  const dates = useDates()
  const search = useSearch({ from: '/p/$project/overview' })
  const period = usePeriod(search)
  const { id: project } = useProject()
  const { data: newest } = useQuery(newestCallQuery(project))
  // A project without a call has nothing to count.
  if (newest?.data.length === 0) {
    return (
      <div className={charts.charts}>
        <PageHeader title="Overview" />
        <Suspense>
          <FirstSteps />
        </Suspense>
      </div>
    )
  }
  return (
    <div className={charts.charts}>
      <PageHeader
        title="Overview"
        description={
          <>
            {periodLabel(period, dates)}
            {period.earlier && `, compared with the ${labelBefore(period.days)}`}
            {period.since &&
              `, with no earlier period to compare: the first call was on ${dates.day(period.since, Date.now())}`}
            <ZoneNote />
          </>
        }
        action={
          <Group gap="xs">
            <PageButton to="/p/$project/overview/compare" params={{ project }} variant="default">
              Compare
            </PageButton>
            <PeriodPicker search={search} />
          </Group>
        }
      />
      <FirstSteps />
      <div className={classes.grid}>
        <LiveCalls />
        <FailedCalls period={period} />
      </div>
      <NoCallsInPeriod {...period} />
      <Figures period={period} />
      <Charts period={period} />
    </div>
  )
}

function usePeriod(search: OverviewSearch): ComparedPeriod {
  const period = periodOf(search, useDates(), useNow())
  const { data: oldest } = useQuery(oldestCallQuery(useProject()))
  const { from, before } = period
  // A part of a period says nothing about a whole one.
  const isYoung = Boolean(oldest && Date.parse(oldest) > Date.parse(before))
  const earlier = oldest && !isYoung ? { from: before, to: from } : null
  return { ...period, earlier, since: isYoung && oldest ? oldest : null }
}

function Charts({ period }: { period: ComparedPeriod }) {
  const { shown, hidden, error, retry, move, hide, show, reset } = useArrangement()
  const [isArranging, setArranging] = useState(false)
  const actionsOf = ({ id, name }: OverviewItem) =>
    isArranging && (
      <Group gap={4} wrap="nowrap">
        <IconButton icon={IconArrowLeft} label={`Move ${name} back`} onClick={() => move(id, -1)} />
        <IconButton icon={IconArrowRight} label={`Move ${name} on`} onClick={() => move(id, 1)} />
        <IconButton icon={IconEyeOff} label={`Hide ${name}`} onClick={() => hide(id)} />
      </Group>
    )
  return (
    <section aria-labelledby="charts">
      <Group justify="space-between" mb="sm">
        <Title order={2} id="charts">
          Charts
        </Title>
        <Group gap="xs">
          {isArranging && (
            <Button variant="subtle" color="gray" size="xs" onClick={reset}>
              Restore the defaults
            </Button>
          )}
          <Button
            variant="default"
            size="xs"
            leftSection={<IconLayoutGrid size={14} aria-hidden />}
            aria-pressed={isArranging}
            onClick={() => setArranging(!isArranging)}
          >
            {isArranging ? 'Done' : 'Arrange'}
          </Button>
          <PageButton
            {...to.chart}
            search={newChart}
            variant="default"
            size="xs"
            leftSection={<IconPlus size={14} aria-hidden />}
          >
            New chart
          </PageButton>
        </Group>
      </Group>
      {error && <Problem title="The saved charts could not be loaded" error={error} onRetry={retry} />}
      <div className={classes.grid}>
        {shown.map((item) => (
          <div key={item.id} data-wide={isWide(item) || undefined}>
            <Item item={item} period={period} arranging={actionsOf(item)} />
          </div>
        ))}
      </div>
      {isArranging && hidden.length > 0 && (
        <Group gap="xs" mt="md">
          <span className="cb-dimmed">Hidden:</span>
          {hidden.map(({ id, name }) => (
            <Button key={id} variant="default" size="xs" onClick={() => show(id)}>
              Show {name}
            </Button>
          ))}
        </Group>
      )}
    </section>
  )
}

interface ItemProps {
  item: OverviewItem
  period: ComparedPeriod
  arranging: ReactNode
}

function Item({ item: { id, search, ...item }, period, arranging }: ItemProps) {
  if (id === 'answers' && search)
    return <AnswersHeard {...item} search={search} period={period} arranging={arranging} />
  if (search) return <ChartCard {...item} search={search} period={period} arranging={arranging} />
  if (id === 'criteria') return <Criteria period={period} arranging={arranging} />
  return <KnowledgeCard arranging={arranging} />
}

/** Whether it has many columns, each in parts. */
function isWide({ search }: OverviewItem): boolean {
  const [first, second] = groupingsOf(search?.by ?? '')
  return second !== undefined && isOrdered(first)
}
