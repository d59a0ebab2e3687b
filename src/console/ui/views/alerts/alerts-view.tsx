import { Group, Tabs, Text } from '@mantine/core'
import { IconBell, IconPlus } from '@tabler/icons-react'
import { useNavigate, useSearch } from '@tanstack/react-router'
import type { Alert } from '../../../../alerts/schemas.ts'
import { Empty } from '../../components/empty.tsx'
import { counted } from '../../components/figures.ts'
import { PageButton, PageLink } from '../../components/links.tsx'
import { Page } from '../../components/page.tsx'
import { StatusBadge } from '../../components/status-badge.tsx'
import { QueryTable } from '../../components/table.tsx'
import { to } from '../../components/to.ts'
import { useProject, useRefusal } from '../../session.ts'
import { chartOf } from '../charts/chart-search.ts'
import { AlertMenu } from './alert-acts.tsx'
import { chosenFilters } from './alert-draft.ts'
import { useAlerts, useNames } from './alert-queries.ts'
import { filtersInWords, type Names, ruleInWords, valueInWords } from './alert-words.ts'
import { AlertState, Fired } from './fired.tsx'

const newAlert = { from: '/p/$project', to: '/p/$project/settings/alerts/new' } as const

/** The project's alerts with their states, and what fired. */
export function AlertsView() {
  const { tab = 'rules' } = useSearch({ from: '/p/$project/settings/alerts' })
  const navigate = useNavigate({ from: '/p/$project/settings/alerts' })
  const mayChange = useRefusal('change') === null
  const show = (next: string | null) =>
    void navigate({ to: '.', search: next === 'fired' ? { tab: next } : {}, replace: true })
  return (
    <Page
      title="Alerts"
      description="A rule watches a figure of the newest calls, and tells you when it crosses a limit."
      action={
        mayChange && (
          <PageButton
            {...newAlert}
            search={{ of: 'success' }}
            leftSection={<IconPlus size={16} aria-hidden />}
          >
            New alert
          </PageButton>
        )
      }
    >
      <Tabs value={tab} onChange={show} keepMounted={false}>
        <Tabs.List mb="md">
          <Tabs.Tab value="rules">Rules</Tabs.Tab>
          <Tabs.Tab value="fired">What fired</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="rules">
          <Rules mayChange={mayChange} />
        </Tabs.Panel>
        <Tabs.Panel value="fired">
          <Fired />
        </Tabs.Panel>
      </Tabs>
    </Page>
  )
}

/** The alerts that most people begin with. */
const starters = [
  { label: 'Calls fail', search: { of: 'success' } },
  { label: 'The line is quiet', search: { of: 'calls', below: 'true' } },
  { label: 'Answers are slow', search: { of: 'latencyMs', show: 'p95' } },
  { label: 'Callers wait', search: { of: 'responseMaxMs', show: 'p95' } },
  { label: 'Dead air', search: { of: 'deadAirSeconds', show: 'p95' } },
] as const

function Starters() {
  return (
    <Group gap="xs" justify="center">
      {starters.map(({ label, search }) => (
        <PageButton key={label} {...newAlert} search={search} variant="default" size="xs">
          {label}
        </PageButton>
      ))}
    </Group>
  )
}

function Rules({ mayChange }: { mayChange: boolean }) {
  const { id: project } = useProject()
  const alerts = useAlerts()
  const navigate = useNavigate()
  const names = useNames()
  return (
    <QueryTable
      label="Alerts"
      of={alerts}
      what="The alerts"
      rows={alerts.data?.data}
      rowKey={({ id }) => id}
      onOpen={({ id }) =>
        void navigate({ to: '/p/$project/settings/alerts/$alert', params: { project, alert: id } })
      }
      expectedRows={3}
      columns={({ cell, when }) => [
        cell('Name', (rule) => <Rule rule={rule} names={names} />),
        cell('State', ({ state }) => <AlertState state={state} />, { width: '104px' }),
        when('Since', ({ since }) => since, { from: 640 }),
        cell(
          'Value',
          ({ of, show, value }) => (
            <span className="cb-figure">{valueInWords(chartOf({ of, show }).chart, value)}</span>
          ),
          { width: '88px', align: 'right', from: 480 },
        ),
        cell(
          'Counted',
          ({ calls }) => <span className="cb-figure cb-dimmed">{counted(calls, 'call')}</span>,
          { width: '96px', align: 'right', from: 640 },
        ),
        ...(mayChange
          ? [
              {
                key: 'actions',
                header: <span className="cb-hidden">Actions</span>,
                width: '48px',
                align: 'right' as const,
                render: (alert: Alert) => <AlertMenu alert={alert} />,
              },
            ]
          : []),
      ]}
      empty={
        <Empty icon={<IconBell size={24} />} title="No alerts yet" action={mayChange && <Starters />}>
          Learn of a broken agent before your customers call. “Alert me when …” stands above the list of calls
          and beside each chart, too, and begins with what it shows.
        </Empty>
      }
    />
  )
}

/** The name above the rule in words. */
function Rule({ rule, names }: { rule: Alert; names: Names }) {
  const filters = filtersInWords(chosenFilters(rule.filters), names)
  return (
    <>
      <Group gap="xs" wrap="nowrap" fw={500}>
        <PageLink {...to.alert(rule.id)} dir="auto" className="cb-truncate">
          {rule.name}
        </PageLink>
        {rule.paused && <StatusBadge tone="neutral">Paused</StatusBadge>}
      </Group>
      <Text c="dimmed" className="cb-wrap">
        {ruleInWords(rule, names)}
        {filters && <span dir="auto"> · {filters}</span>}
      </Text>
    </>
  )
}
