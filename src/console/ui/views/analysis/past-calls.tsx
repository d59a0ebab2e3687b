import { Button, Checkbox, Group, Select, Skeleton, Stack } from '@mantine/core'
import { IconCheck, IconHistory, IconPlayerStop } from '@tabler/icons-react'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import type { AnalysisRun, AnalysisStatus, Rubric } from '../../../../analysis/schemas.ts'
import { sayNotDone, useAct } from '../../components/acts.ts'
import { useConfirm } from '../../components/dialogs.tsx'
import { Empty } from '../../components/empty.tsx'
import { asCount, counted } from '../../components/figures.ts'
import { Instant } from '../../components/instant.tsx'
import { Panel } from '../../components/panel.tsx'
import { Problem } from '../../components/problem.tsx'
import { Pulse, StatusBadge } from '../../components/status-badge.tsx'
import { QueryTable } from '../../components/table.tsx'
import { parseSearch } from '../../search-params.ts'
import { useProject, useRefusal } from '../../session.ts'
import { CallFilters } from '../calls/call-filters.tsx'
import { type ChosenFilters, faultsOf, filterKey, readFilters } from '../calls/chosen-filters.ts'
import { useResolvedFilters } from '../calls/filter-fields.tsx'
import { viewsQuery } from '../calls/view-queries.ts'
import { planQuery, rubricQuery, runsQuery, statusQuery } from './analysis-queries.ts'
import { personOf } from './analysis-words.tsx'

const runBadges = {
  running: { tone: 'accent', icon: Pulse, label: 'Running' },
  done: { tone: 'success', icon: IconCheck, label: 'Done' },
  stopped: { tone: 'neutral', icon: IconPlayerStop, label: 'Stopped' },
} as const satisfies Record<AnalysisRun['state'], object>

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
    <Stack>
      {mayStart && (
        <Panel title="Analyze past calls">
          {data?.rubric ? <NewRun rubric={data.rubric} status={status} /> : <Skeleton height={160} />}
        </Panel>
      )}
      <Runs mayStop={mayStart} />
    </Stack>
  )
}

interface NewRunProps {
  rubric: Rubric
  status: AnalysisStatus | undefined
}

function NewRun({ rubric, status }: NewRunProps) {
  const { id: project } = useProject()
  const navigate = useNavigate({ from: '/p/$project/settings/analysis' })
  const { order: _, ...filters } = readFilters(useSearch({ from: '/p/$project/settings/analysis' }))
  const resolvedFilters = useResolvedFilters(filters)
  const faults = faultsOf(filters)
  const filter = (next: Record<string, unknown>, replace = false) =>
    void navigate({ to: '.', search: { tab: 'past', ...readFilters(next) }, replace, resetScroll: false })
  const [again, setAgain] = useState(false)
  const plan = useQuery({ ...planQuery(project, resolvedFilters), enabled: faults.length === 0 })
  const { start, done } = useNewRun(JSON.stringify([filterKey(resolvedFilters), again]))
  const calls = plan.data?.calls ?? 0
  const words = <PlanWords plan={plan.data} rubric={rubric} status={status} />
  const label = calls === 0 ? 'Analyze' : `Analyze ${counted(calls, 'call')}`
  return (
    <Stack>
      <p className="cb-dimmed">
        Version {rubric.version} answers its questions about these calls, the newest first. Calls that are
        live are left out, and so are those that the rubric does not ask about.
      </p>
      <Stack gap="sm">
        <SavedViews filters={filters} onChoose={filter} />
        <CallFilters
          filters={filters}
          faults={faults}
          foundBy={null}
          onChange={(change, isTyping) => filter({ ...filters, ...change }, isTyping)}
          onClear={() => filter({})}
        />
      </Stack>
      <Checkbox
        label="Analyze again"
        description={`Includes calls that version ${rubric.version} has analyzed already. They are skipped otherwise, and cost nothing.`}
        checked={again}
        onChange={(event) => setAgain(event.currentTarget.checked)}
      />
      <Group justify="space-between" gap="xs">
        <div role="status">
          {plan.error ? (
            <Problem
              error={plan.error}
              title="The calls could not be counted"
              onRetry={() => void plan.refetch()}
            />
          ) : done ? (
            <span>
              <strong>All done.</strong> {describeRun(done)}.
            </span>
          ) : (
            words
          )}
        </div>
        <Button
          disabled={calls === 0 || plan.isFetching || !status?.model || done !== undefined}
          onClick={() => start({ filters: resolvedFilters, again }, label, words)}
        >
          {label}
        </Button>
      </Group>
    </Stack>
  )
}

/** Asks before a run starts. @param of what the run is about: another one is not done @returns the run, when it is done */
function useNewRun(of: string) {
  const { id: project, of: ofProject } = useProject()
  const queryClient = useQueryClient()
  const ask = useConfirm()
  const [started, setStarted] = useState<{ id: string; of: string } | null>(null)
  const { data } = useQuery(runsQuery(project))
  const start = (run: { filters: ChosenFilters; again: boolean }, verb: string, words: ReactNode) =>
    ask({
      title: `${verb}?`,
      verb,
      isDanger: false,
      text: <p>{words}</p>,
      send: () => ofProject.analysis.runs.post(run),
      changes: { queryKey: runsQuery(project).queryKey },
      says: ({ calls }) => `The analysis of ${counted(calls, 'call')} has started.`,
      done: (answer) => {
        if ('id' in answer) setStarted({ id: answer.id, of })
        void queryClient.invalidateQueries(statusQuery(project))
      },
    })
  const isOfThis = (run: AnalysisRun) => run.state === 'done' && started?.of === of && run.id === started.id
  return { start, done: data?.data.find(isOfThis) }
}

interface PlanWordsProps extends NewRunProps {
  /** Undefined while the calls are counted. */
  plan: { calls: number; tokens: number } | { id: string; calls: number } | undefined
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

interface SavedViewsProps {
  filters: ChosenFilters
  onChoose: (filters: ChosenFilters) => void
}

function SavedViews({ filters, onChoose }: SavedViewsProps) {
  const { data } = useQuery(viewsQuery(useProject().id, 'calls'))
  const views = (data ?? []).map(({ id, name, query }) => {
    const { order: _, ...ofView } = readFilters(parseSearch(query))
    return { id, name, filters: ofView }
  })
  return (
    <Select
      label="Saved view"
      maw={320}
      placeholder={views.length === 0 ? 'No view is saved yet' : 'None'}
      disabled={views.length === 0}
      data={views.map(({ id, name }) => ({ value: id, label: name }))}
      value={views.find((view) => filterKey(view.filters) === filterKey(filters))?.id ?? null}
      onChange={(id) => onChoose(views.find((view) => view.id === id)?.filters ?? {})}
    />
  )
}

function Runs({ mayStop }: { mayStop: boolean }) {
  const { id: project, of } = useProject()
  const runs = useQuery(runsQuery(project))
  const stop = useAct({
    send: (id: string) => of.analysis.runs({ id }).delete(),
    changes: { queryKey: runsQuery(project).queryKey },
  })
  const onError = (error: unknown) => sayNotDone('The run was not stopped', error)
  return (
    <QueryTable
      label="Runs"
      of={runs}
      what="The runs"
      rows={runs.data?.data}
      rowKey={({ id }) => id}
      expectedRows={2}
      columns={({ actions, cell, figure }) => [
        cell('Progress', (run) => <Progress run={run} />),
        cell('State', ({ state }) => <StatusBadge {...runBadges[state]} />, { width: '104px' }),
        figure('Version', ({ version }) => version, '72px', 640),
        cell('Started', (run) => <Started {...run} />, { width: '208px', from: 640 }),
        ...(mayStop
          ? [
              actions('Stop', ({ id, calls, state }) => [
                state === 'running' && {
                  icon: IconPlayerStop,
                  label: `Stop the run over ${counted(calls, 'call')}`,
                  act: () => stop.mutate(id, { onError }),
                },
              ]),
            ]
          : []),
      ]}
      empty={
        <Empty title="No runs yet">
          A run over past calls is listed here with its progress, and can be stopped.
        </Empty>
      }
    />
  )
}

function Started({ createdAt, createdBy }: AnalysisRun) {
  return (
    <span title={createdBy ?? undefined}>
      <Instant at={createdAt} />
      {createdBy && `, ${personOf(createdBy)}`}
    </span>
  )
}

function Progress({ run }: { run: AnalysisRun }) {
  const { calls, done, skipped, failed } = run
  return (
    <Group component="span" gap="0 12px">
      <progress
        style={{ width: 96 }}
        aria-label="Progress"
        value={done + skipped + failed}
        max={calls || 1}
      />
      <span className="cb-figure" style={{ whiteSpace: 'normal' }}>
        {describeRun(run)}
      </span>
    </Group>
  )
}

/** `96 of 128 analyzed, 2 skipped` */
function describeRun({ calls, done, skipped, failed }: AnalysisRun): string {
  return [
    `${asCount(done)} of ${asCount(calls)} analyzed`,
    ...(skipped > 0 ? [`${asCount(skipped)} skipped`] : []),
    ...(failed > 0 ? [`${asCount(failed)} failed`] : []),
  ].join(', ')
}
