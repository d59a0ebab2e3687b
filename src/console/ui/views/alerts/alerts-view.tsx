import { Group, Tabs, Text } from '@mantine/core'
import {
  IconAlertTriangle,
  IconBell,
  IconBellCheck,
  IconCheck,
  IconPencil,
  IconPlayerPause,
  IconPlayerPlay,
  IconPlus,
  IconSend,
  IconTrash,
} from '@tabler/icons-react'
import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import type { Alert, AlertState as State } from '../../../../alerts/schemas.ts'
import { pathOf } from '../../api.ts'
import { sayNotDone, useAct } from '../../components/acts.ts'
import { useConfirm } from '../../components/dialogs.tsx'
import { Empty } from '../../components/empty.tsx'
import { counted } from '../../components/figures.ts'
import { Instant, useNow } from '../../components/instant.tsx'
import { PageButton, PageLink } from '../../components/links.tsx'
import { Page } from '../../components/page.tsx'
import { RowMenu } from '../../components/row-menu.tsx'
import { StatusBadge } from '../../components/status-badge.tsx'
import { PagedTable, QueryTable } from '../../components/table.tsx'
import { to } from '../../components/to.ts'
import { parseSearch } from '../../search-params.ts'
import { useProject, useRefusal } from '../../session.ts'
import { readFilters } from '../calls/chosen-filters.ts'
import { chartOf } from '../charts/chart-search.ts'
import { chosenFilters } from './alert-draft.ts'
import { changesQuery, type FiredChange, useAlerts, useNames } from './alert-queries.ts'
import { filtersInWords, lastedInWords, type Names, ruleInWords, valueInWords } from './alert-words.ts'

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
            {...to.newAlert}
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
        <PageButton key={label} {...to.newAlert} search={search} variant="default" size="xs">
          {label}
        </PageButton>
      ))}
    </Group>
  )
}

function Rules({ mayChange }: { mayChange: boolean }) {
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
      onOpen={({ id }) => void navigate(to.alert(id))}
      expectedRows={3}
      columns={({ cell, end, figure, when }) => [
        cell('Name', (rule) => <Rule rule={rule} names={names} />),
        cell('State', ({ state }) => <AlertState state={state} />, { width: '104px' }),
        when('Since', ({ since }) => since, { from: 640 }),
        figure(
          'Value',
          ({ of, show, value }) => valueInWords(chartOf({ of, show }).chart, value),
          '88px',
          480,
        ),
        figure(
          'Counted',
          ({ calls }) => <span className="cb-dimmed">{counted(calls, 'call')}</span>,
          '96px',
          640,
        ),
        ...(mayChange ? [end('Actions', (alert) => <AlertMenu alert={alert} />)] : []),
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
        {rule.paused && <StatusBadge tone="neutral" label="Paused" />}
      </Group>
      <Text c="dimmed" className="cb-wrap">
        {ruleInWords(rule, names)}
        {filters && <span dir="auto"> · {filters}</span>}
      </Text>
    </>
  )
}

const badges = {
  ok: { tone: 'success', icon: IconCheck, label: 'OK' },
  warning: { tone: 'warning', icon: IconAlertTriangle, label: 'Warning' },
  alert: { tone: 'danger', icon: IconBell, label: 'Alert' },
  no_data: { tone: 'neutral', label: 'No data' },
} as const satisfies Record<State, object>

/** The state of an alert. */
export function AlertState({ state }: { state: State }) {
  return <StatusBadge {...badges[state]} />
}

/** When alerts fired, for how long, and the calls that were counted. @param alert only this one */
export function Fired({ alert }: { alert?: string }) {
  const changes = useInfiniteQuery(changesQuery(useProject().of, alert))
  // All but the ends of alerts.
  const rows = changes.data?.pages.flatMap(({ data }) =>
    data.filter(({ state }) => state === 'alert' || state === 'warning'),
  )
  // Of one alert, rows need no name, below which a narrow table has the rest.
  const beside = { from: alert === undefined ? 640 : undefined } as const
  return (
    <PagedTable
      label="What fired"
      of={changes}
      what="What fired"
      more="Show earlier ones"
      rows={rows}
      rowKey={({ seq }) => String(seq)}
      expectedRows={3}
      columns={({ cell, figure, when }) => [
        cell('State', ({ state }) => <AlertState state={state} />, { width: '104px' }),
        ...(alert === undefined ? [cell('Alert', (change) => <Name change={change} />)] : []),
        cell('Value', (change) => <Value {...change} />, { width: '176px', from: 800 }),
        when('When', ({ at }) => at, { as: 'moment', width: '128px', ...beside }),
        cell('For', (change) => <Lasted {...change} />, { width: '112px', from: 480 }),
        figure('Counted', (change) => <Counted {...change} />, '96px', beside.from),
      ]}
      empty={
        !changes.hasNextPage && (
          <Empty icon={<IconBellCheck size={24} />} title="Nothing has fired">
            Each time a limit is crossed stands here for 90 days.
          </Empty>
        )
      }
    />
  )
}

function Name({ change }: { change: FiredChange }) {
  return (
    <>
      <PageLink {...to.alert(change.id)} dir="auto" className="cb-truncate">
        {change.name}
      </PageLink>
      <span className="cb-narrow-line">
        <Instant at={change.at} as="moment" /> · <Counted {...change} />
      </span>
    </>
  )
}

function Value({ of, show, value, limit }: FiredChange) {
  const { chart } = chartOf({ of, show })
  return (
    <span className="cb-figure">
      {valueInWords(chart, value)}{' '}
      {limit !== null && <span className="cb-dimmed">(limit {valueInWords(chart, limit)})</span>}
    </span>
  )
}

function Counted({ url, calls, name, at }: FiredChange) {
  return (
    <PageLink
      {...to.calls}
      // The address in the message, wherever the console is reached now.
      search={readFilters(parseSearch(new URL(url, location.origin).search))}
      className="cb-figure"
    >
      {counted(calls, 'call')}
      <span className="cb-hidden">
        {' '}
        of {name}, {at}
      </span>
    </PageLink>
  )
}

function Lasted({ at, until }: Pick<FiredChange, 'at' | 'until'>) {
  const now = useNow()
  const words = lastedInWords(at, until ?? now)
  return <span className="cb-figure">{until === null ? `${words} so far` : words}</span>
}

/** What can be done with an alert. @param onDeleted called before it is gone from the list */
export function useAlertActs({ id, name, paused }: Alert, onDeleted?: () => unknown) {
  const { of } = useProject()
  const client = useQueryClient()
  const ask = useConfirm()
  const at = of.alerts({ id })
  const pausing = useAct({
    send: () => at.pause.post({ paused: !paused }),
    changes: of.alerts,
    says: (alert) => `“${name}” ${alert.paused ? 'is paused' : 'is evaluated again'}`,
  })
  const testing = useAct({ send: () => at.test.post({}), says: ({ queued }) => describeSent(queued) })
  return {
    isTesting: testing.isPending,
    pause: () => pausing.mutate(undefined, { onError: (error) => sayNotDone('Nothing was changed', error) }),
    test: () =>
      testing.mutate(undefined, { onError: (error) => sayNotDone('No test message was sent', error) }),
    remove: () =>
      ask({
        title: 'Delete this alert?',
        verb: 'Delete alert',
        text: (
          <p>
            Nothing more is sent of <strong dir="auto">{name}</strong>, and its history is deleted. An open
            incident at PagerDuty stays for you to resolve. Pause the alert to keep all of it.
          </p>
        ),
        send: () => at.delete(),
        says: `Deleted the alert “${name}”`,
        done: async () => {
          await onDeleted?.()
          await client.invalidateQueries({ queryKey: pathOf(of.alerts) })
        },
      }),
  }
}

/** @param queued an alert and its end for each destination */
export function describeSent(queued: number): string {
  if (queued === 0)
    return 'No test message was sent: the destinations are switched off. Save the alert to try again.'
  return `${counted(queued, 'test message')} will arrive in a moment: an alert and its end at each destination.`
}

function AlertMenu({ alert }: { alert: Alert }) {
  const navigate = useNavigate()
  const { pause, test, remove } = useAlertActs(alert)
  const { id, name, paused } = alert
  return (
    <RowMenu
      name={name}
      items={[
        { icon: IconPencil, label: 'Edit', act: () => void navigate(to.alert(id)) },
        paused
          ? { icon: IconPlayerPlay, label: 'Resume', act: pause }
          : { icon: IconPlayerPause, label: 'Pause', act: pause },
        { icon: IconSend, label: 'Send a test message', act: test, isDisabled: alert.to.length === 0 },
        { icon: IconTrash, label: 'Delete', act: remove, isDanger: true },
      ]}
    />
  )
}
