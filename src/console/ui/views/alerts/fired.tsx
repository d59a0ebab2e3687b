import { IconAlertTriangle, IconBell, IconBellCheck, IconCheck } from '@tabler/icons-react'
import { useInfiniteQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { AlertState as State } from '../../../../alerts/schemas.ts'
import { Empty } from '../../components/empty.tsx'
import { counted } from '../../components/figures.ts'
import { Instant } from '../../components/instant.tsx'
import { PageLink } from '../../components/links.tsx'
import { StatusBadge } from '../../components/status-badge.tsx'
import { PagedTable } from '../../components/table.tsx'
import { to } from '../../components/to.ts'
import { useNow } from '../../components/use-now.ts'
import { parseSearch } from '../../search-params.ts'
import { useProject } from '../../session.ts'
import { readFilters } from '../calls/chosen-filters.ts'
import { chartOf } from '../charts/chart-search.ts'
import { changesQuery, type FiredChange } from './alert-queries.ts'
import { lastedInWords, stateLabels, valueInWords } from './alert-words.ts'

const looks: Record<State, { tone: 'success' | 'warning' | 'danger' | 'neutral'; icon?: ReactNode }> = {
  ok: { tone: 'success', icon: <IconCheck size={12} stroke={2.5} /> },
  warning: { tone: 'warning', icon: <IconAlertTriangle size={12} /> },
  alert: { tone: 'danger', icon: <IconBell size={12} /> },
  no_data: { tone: 'neutral' },
}

/** The state of an alert. */
export function AlertState({ state }: { state: State }) {
  return <StatusBadge {...looks[state]}>{stateLabels[state]}</StatusBadge>
}

/** When alerts fired, for how long, and the calls that were counted. @param alert only this one */
export function Fired({ alert }: { alert?: string }) {
  const changes = useInfiniteQuery(changesQuery(useProject().of, alert))
  // All but the ends of alerts.
  const rows = changes.data?.pages.flatMap(({ data }) =>
    data.filter(({ state }) => state === 'alert' || state === 'warning'),
  )
  // Of one alert, rows need no name, below which a narrow table has the rest.
  const beside = alert === undefined ? ({ from: 640 } as const) : {}
  return (
    <PagedTable
      label="What fired"
      of={changes}
      what="What fired"
      more="Show earlier ones"
      rows={rows}
      rowKey={({ seq }) => String(seq)}
      expectedRows={3}
      columns={({ cell, when }) => [
        cell('State', ({ state }) => <AlertState state={state} />, { width: '104px' }),
        ...(alert === undefined ? [cell('Alert', (change) => <Name change={change} />)] : []),
        cell('Value', (change) => <Value {...change} />, { width: '176px', from: 800 }),
        when('When', ({ at }) => at, { as: 'moment', width: '128px', ...beside }),
        cell('For', (change) => <Lasted {...change} />, { width: '112px', from: 480 }),
        cell('Counted', (change) => <Counted {...change} />, { width: '96px', align: 'right', ...beside }),
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
  const { id: project } = useProject()
  return (
    <PageLink
      to="/p/$project/calls"
      params={{ project }}
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
