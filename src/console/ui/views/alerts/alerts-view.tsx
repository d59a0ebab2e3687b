import { Tabs } from '@mantine/core'
import { IconBell, IconPlus } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import type { Alert } from '../../../../alerts/schemas.ts'
import { Empty } from '../../components/empty.tsx'
import { counted } from '../../components/figures.ts'
import { Instant } from '../../components/instant.tsx'
import { PageButton, PageLink } from '../../components/links.tsx'
import { type Column, ListTable } from '../../components/list-table.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { Problem } from '../../components/problem.tsx'
import { StatusBadge } from '../../components/status-badge.tsx'
import { useProject, useRefusal } from '../../session.ts'
import { chartOf } from '../charts/chart.ts'
import { chosenFilters } from './alert-draft.ts'
import { AlertMenu } from './alert-menu.tsx'
import { alertsQuery } from './alert-queries.ts'
import { AlertState } from './alert-state.tsx'
import { filtersInWords, type Names, ruleInWords, valueInWords } from './alert-words.ts'
import classes from './alerts.module.css'
import { DeleteAlert } from './delete-alert.tsx'
import { Fired } from './fired.tsx'
import { useNames } from './use-names.ts'

/** The project's alerts with their states, and what fired. */
export function AlertsView() {
  const { tab = 'rules' } = useSearch({ from: '/p/$project/settings/alerts' })
  const navigate = useNavigate({ from: '/p/$project/settings/alerts' })
  const show = (next: string | null) =>
    void navigate({ to: '.', search: next === 'fired' ? { tab: next } : {}, replace: true })
  return (
    <>
      <PageHeader
        title="Alerts"
        description="A rule watches a figure of the newest calls, and tells you when it crosses a limit."
        action={<NewAlert />}
      />
      <Tabs value={tab} onChange={show} keepMounted={false}>
        <Tabs.List mb="md">
          <Tabs.Tab value="rules">Rules</Tabs.Tab>
          <Tabs.Tab value="fired">What fired</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="rules">
          <Rules />
        </Tabs.Panel>
        <Tabs.Panel value="fired">
          <Fired />
        </Tabs.Panel>
      </Tabs>
    </>
  )
}

function NewAlert() {
  const { id: project } = useProject()
  if (useRefusal('change') !== null) return null
  return (
    <PageButton
      to="/p/$project/settings/alerts/new"
      params={{ project }}
      search={{ of: 'success' }}
      leftSection={<IconPlus size={16} aria-hidden />}
    >
      New alert
    </PageButton>
  )
}

/** The alerts that most people begin with. */
const starters = [
  { label: 'Calls fail', search: { of: 'success' } },
  { label: 'The line is quiet', search: { of: 'calls', below: 'true' } },
  { label: 'Answers are slow', search: { of: 'latencyMs', show: 'p95' } },
] as const

function Starters() {
  const { id: project } = useProject()
  return (
    <div className="cb-row">
      {starters.map(({ label, search }) => (
        <PageButton
          key={label}
          to="/p/$project/settings/alerts/new"
          params={{ project }}
          search={search}
          variant="default"
          size="xs"
        >
          {label}
        </PageButton>
      ))}
    </div>
  )
}

function Rules() {
  const { id: project } = useProject()
  const { data, error, refetch } = useQuery(alertsQuery(project))
  const navigate = useNavigate()
  const mayChange = useRefusal('change') === null
  const [deleting, setDeleting] = useState<Alert | null>(null)
  const columns = columnsOf(project, useNames())
  const open = ({ id }: Alert) =>
    void navigate({ to: '/p/$project/settings/alerts/$alert', params: { project, alert: id } })
  if (error && !data)
    return <Problem error={error} title="The alerts could not be loaded" onRetry={() => void refetch()} />
  return (
    <>
      <ListTable
        label="Alerts"
        columns={mayChange ? [...columns, menuColumn(setDeleting)] : columns}
        rows={data}
        rowKey={({ id }) => id}
        onOpen={open}
        expectedRows={3}
        empty={
          <Empty icon={<IconBell size={24} />} title="No alerts yet" action={mayChange && <Starters />}>
            Learn of a broken agent before your customers call. “Alert me when …” stands above the list of
            calls and beside each chart, too, and begins with what it shows.
          </Empty>
        }
      />
      <DeleteAlert deleting={deleting} onClose={() => setDeleting(null)} />
    </>
  )
}

function columnsOf(project: string, names: Names): Column<Alert>[] {
  return [
    {
      key: 'name',
      header: 'Name',
      render: (rule) => (
        <>
          <span className={classes.name}>
            <PageLink
              to="/p/$project/settings/alerts/$alert"
              params={{ project, alert: rule.id }}
              dir="auto"
              className="cb-truncate"
            >
              {rule.name}
            </PageLink>
            {rule.paused && <StatusBadge tone="neutral">Paused</StatusBadge>}
          </span>
          <RuleInWords rule={rule} names={names} />
        </>
      ),
    },
    {
      key: 'state',
      header: 'State',
      width: '104px',
      render: ({ state }) => <AlertState state={state} />,
    },
    {
      key: 'since',
      header: 'Since',
      width: '112px',
      from: 640,
      render: ({ since }) => <Instant at={since} />,
    },
    {
      key: 'value',
      header: 'Value',
      width: '88px',
      align: 'right',
      from: 480,
      render: ({ of, show, value }) => (
        <span className="cb-figure">{valueInWords(chartOf({ of, show }).chart, value)}</span>
      ),
    },
    {
      key: 'calls',
      header: 'Of',
      width: '96px',
      align: 'right',
      from: 640,
      render: ({ calls }) => <span className="cb-figure cb-dimmed">{counted(calls, 'call')}</span>,
    },
  ]
}

function menuColumn(remove: (alert: Alert) => void): Column<Alert> {
  return {
    key: 'actions',
    header: <span className="cb-hidden">Actions</span>,
    width: '48px',
    align: 'right',
    render: (alert) => <AlertMenu alert={alert} onDelete={remove} />,
  }
}

function RuleInWords({ rule, names }: { rule: Alert; names: Names }) {
  const filters = filtersInWords(chosenFilters(rule.filters), names)
  return (
    <span className={classes.words}>
      {ruleInWords(rule, names)}
      {filters && <span dir="auto"> · {filters}</span>}
    </span>
  )
}
