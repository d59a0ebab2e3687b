import { Button, Checkbox, Select, Skeleton } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { IconCheck, IconHistory, IconPlayerStop } from '@tabler/icons-react'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import type { AnalysisRun, AnalysisStatus, Rubric } from '../../../../analysis/schemas.ts'
import { api, unwrap } from '../../api.ts'
import { Empty } from '../../components/empty.tsx'
import { asCount, counted } from '../../components/figures.ts'
import { Instant } from '../../components/instant.tsx'
import { type Column, ListTable } from '../../components/list-table.tsx'
import { Panel } from '../../components/panel.tsx'
import { Problem } from '../../components/problem.tsx'
import { StatusBadge } from '../../components/status-badge.tsx'
import { parseSearch } from '../../search-params.ts'
import { useProject, useRefusal } from '../../session.ts'
import { CallFilters } from '../calls/call-filters.tsx'
import { type ChosenFilters, faultsOf, filterKey, readFilters } from '../calls/chosen-filters.ts'
import { useResolvedFilters } from '../calls/use-resolved-filters.ts'
import { viewsQuery } from '../calls/view-queries.ts'
import classes from './analysis-page.module.css'
import { planQuery, rubricQuery, runsQuery, statusQuery } from './analysis-queries.ts'
import { personOf } from './analysis-words.ts'

/** Analyzes past calls, and shows how far such runs are. */
export function PastCalls({ status }: { status: AnalysisStatus | undefined }) {
  const { id: project } = useProject()
  const mayStart = useRefusal('manage') === null
  const { data } = useQuery(rubricQuery(project))
  if (data && data.rubric === null)
    return (
      <Empty icon={<IconHistory size={24} stroke={1.6} />} title="Past calls are analyzed by a rubric">
        Save a rubric first. Then choose calls here, see how many they are and about how many tokens they
        take, and start.
      </Empty>
    )
  return (
    <div className="cb-stack">
      {mayStart && (
        <Panel title="Analyze past calls">
          {data?.rubric ? <NewRun rubric={data.rubric} status={status} /> : <Skeleton height={160} />}
        </Panel>
      )}
      <Runs mayStop={mayStart} />
    </div>
  )
}

function NewRun({ rubric, status }: { rubric: Rubric; status: AnalysisStatus | undefined }) {
  const { id: project } = useProject()
  const queryClient = useQueryClient()
  const navigate = useNavigate({ from: '/p/$project/settings/analysis' })
  const { order: _, ...filters } = readFilters(useSearch({ from: '/p/$project/settings/analysis' }))
  const asked = useResolvedFilters(filters)
  const faults = faultsOf(filters)
  const filter = (next: Record<string, unknown>, replace = false) =>
    void navigate({ to: '.', search: { tab: 'past', ...readFilters(next) }, replace, resetScroll: false })
  const [again, setAgain] = useState(false)
  const plan = useQuery({ ...planQuery(project, asked), enabled: faults.length === 0 })
  const start = useMutation({
    mutationFn: () => unwrap(api.projects({ project }).analysis.runs.post({ filters: asked, again })),
    onSuccess: async ({ calls }) => {
      await queryClient.invalidateQueries(runsQuery(project))
      void queryClient.invalidateQueries(statusQuery(project))
      notifications.show({ message: `The analysis of ${counted(calls, 'call')} has started.` })
    },
  })
  const calls = plan.data?.calls ?? 0
  return (
    <div className="cb-stack">
      <p className="cb-dimmed">
        Version {rubric.version} answers its questions about these calls, the newest first. Calls that are
        live are left out, and so are those that the rubric does not ask about.
      </p>
      <div className={classes.runFilters}>
        <SavedViews filters={filters} onChoose={filter} />
        <CallFilters
          filters={filters}
          faults={faults}
          foundBy={null}
          onChange={(change, isTyping) => filter({ ...filters, ...change }, isTyping)}
          onClear={() => filter({})}
        />
      </div>
      <Checkbox
        label="Again"
        description={`Also the calls that version ${rubric.version} has analyzed. Without it, they are skipped and cost nothing.`}
        checked={again}
        onChange={(event) => setAgain(event.currentTarget.checked)}
      />
      {start.error && <Problem error={start.error} title="The analysis did not start" />}
      <div className={classes.plan}>
        <div role="status">
          {plan.error ? (
            <Problem
              error={plan.error}
              title="The calls could not be counted"
              onRetry={() => void plan.refetch()}
            />
          ) : (
            <PlanWords plan={plan.data} rubric={rubric} status={status} />
          )}
        </div>
        <Button
          disabled={calls === 0 || plan.isFetching || !status?.model}
          loading={start.isPending}
          onClick={() => start.mutate()}
        >
          {calls === 0 ? 'Analyze' : `Analyze ${counted(calls, 'call')}`}
        </Button>
      </div>
    </div>
  )
}

interface PlanWordsProps {
  /** Undefined while the calls are counted. */
  plan: { calls: number; tokens: number } | { id: string; calls: number } | undefined
  rubric: Rubric
  status: AnalysisStatus | undefined
}

function PlanWords({ plan, rubric, status }: PlanWordsProps) {
  if (!plan || !('tokens' in plan)) return <span className="cb-dimmed">Counting…</span>
  if (plan.calls === 0) return <span className="cb-dimmed">No completed call matches.</span>
  const used = (status?.tokens.prompt ?? 0) + (status?.tokens.completion ?? 0)
  const left = rubric.tokensPerMonth === null ? null : Math.max(0, rubric.tokensPerMonth - used)
  return (
    <>
      <strong>{counted(plan.calls, 'call')}</strong>, about {asCount(Number(plan.tokens.toPrecision(2)))}{' '}
      tokens at most
      {left !== null && plan.tokens > left && (
        <>
          <br />
          The budget has {asCount(left)} left this month. What does not fit waits for the next one.
        </>
      )}
    </>
  )
}

/** Sets the filters of a saved view. */
function SavedViews({
  filters,
  onChoose,
}: {
  filters: ChosenFilters
  onChoose: (filters: ChosenFilters) => void
}) {
  const { id: project } = useProject()
  const { data } = useQuery(viewsQuery(project, 'calls'))
  const views = (data ?? []).map(({ id, name, query }) => {
    const { order: _, ...ofView } = readFilters(parseSearch(query))
    return { id, name, filters: ofView }
  })
  return (
    <Select
      label="Saved view"
      placeholder={views.length === 0 ? 'No view is saved yet' : 'None'}
      disabled={views.length === 0}
      data={views.map(({ id, name }) => ({ value: id, label: name }))}
      value={views.find((view) => filterKey(view.filters) === filterKey(filters))?.id ?? null}
      onChange={(id) => onChoose(views.find((view) => view.id === id)?.filters ?? {})}
    />
  )
}

function Runs({ mayStop }: { mayStop: boolean }) {
  const { id: project } = useProject()
  const { data, error, refetch } = useQuery(runsQuery(project))
  if (error && !data)
    return <Problem title="The runs could not be loaded" error={error} onRetry={() => void refetch()} />
  return (
    <ListTable
      label="Runs"
      columns={mayStop ? [...columns, stopColumn] : columns}
      rows={data?.data}
      rowKey={({ id }) => id}
      expectedRows={2}
      empty={
        <Empty title="No runs yet">
          A run over past calls is listed here with its progress, and can be stopped.
        </Empty>
      }
    />
  )
}

const columns: Column<AnalysisRun>[] = [
  {
    key: 'progress',
    header: 'Progress',
    render: (run) => <Progress run={run} />,
  },
  { key: 'state', header: 'State', width: '104px', render: ({ state }) => <RunState state={state} /> },
  {
    key: 'version',
    header: 'Version',
    width: '72px',
    align: 'right',
    from: 640,
    render: ({ version }) => version,
  },
  {
    key: 'started',
    header: 'Started',
    width: '208px',
    from: 640,
    render: ({ createdAt, createdBy }) => (
      <span title={createdBy ?? undefined}>
        <Instant at={createdAt} />
        {createdBy && `, ${personOf(createdBy)}`}
      </span>
    ),
  },
]

const stopColumn: Column<AnalysisRun> = {
  key: 'stop',
  header: <span className="cb-hidden">Actions</span>,
  width: '88px',
  align: 'right',
  render: (run) => run.state === 'running' && <Stop run={run} />,
}

function Progress({ run: { calls, done, skipped, failed } }: { run: AnalysisRun }) {
  const others = [
    ...(skipped > 0 ? [`${asCount(skipped)} skipped`] : []),
    ...(failed > 0 ? [`${asCount(failed)} failed`] : []),
  ]
  return (
    <span className={classes.runProgress}>
      <progress aria-label="Progress" value={done + skipped + failed} max={calls || 1} />
      <span className="cb-truncate cb-figure">
        {asCount(done)} of {asCount(calls)}
        {others.length > 0 && `, ${others.join(', ')}`}
      </span>
    </span>
  )
}

function RunState({ state }: Pick<AnalysisRun, 'state'>) {
  switch (state) {
    case 'running':
      return (
        <StatusBadge tone="accent" icon={<span className="cb-pulse" />}>
          Running
        </StatusBadge>
      )
    case 'done':
      return (
        <StatusBadge tone="success" icon={<IconCheck size={12} stroke={2.5} />}>
          Done
        </StatusBadge>
      )
    case 'stopped':
      return (
        <StatusBadge tone="neutral" icon={<IconPlayerStop size={12} />}>
          Stopped
        </StatusBadge>
      )
    default:
      return state satisfies never
  }
}

function Stop({ run: { id, calls } }: { run: AnalysisRun }) {
  const { id: project } = useProject()
  const queryClient = useQueryClient()
  const { mutate, isPending } = useMutation({
    mutationFn: () => unwrap(api.projects({ project }).analysis.runs({ id }).delete()),
    onSettled: () => queryClient.invalidateQueries(runsQuery(project)),
    onError: (error) =>
      notifications.show({ color: 'red', title: 'The run was not stopped', message: error.message }),
  })
  return (
    <Button
      variant="default"
      size="compact-xs"
      loading={isPending}
      aria-label={`Stop the run over ${counted(calls, 'call')}`}
      onClick={() => mutate()}
    >
      Stop
    </Button>
  )
}
