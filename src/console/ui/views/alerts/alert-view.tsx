import { Group, Skeleton, Stack } from '@mantine/core'
import { IconPlayerPause, IconPlayerPlay, IconSend, IconTrash } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import type { Alert } from '../../../../alerts/schemas.ts'
import { read } from '../../api.ts'
import { Empty } from '../../components/empty.tsx'
import { counted } from '../../components/figures.ts'
import { TextButton } from '../../components/icon-button.tsx'
import { Instant } from '../../components/instant.tsx'
import { PageLink } from '../../components/links.tsx'
import { Loaded, Page, Section } from '../../components/page.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { Panel } from '../../components/panel.tsx'
import { StatusBadge } from '../../components/status-badge.tsx'
import { to } from '../../components/to.ts'
import { useDates } from '../../components/use-dates.ts'
import { useProject, useRefusal } from '../../session.ts'
import { chartOf } from '../charts/chart-search.ts'
import { chosenFilters, draftOf, newDraft, numberOf } from './alert-draft.ts'
import { AlertForm } from './alert-form.tsx'
import { callsPerDayQuery, type OfferedDestination, useAlerts, useNames } from './alert-queries.ts'
import { watchedOf } from './alert-search.ts'
import { filtersInWords, ruleInWords, valueInWords } from './alert-words.ts'
import { AlertState, Fired, useAlertActs } from './alerts-view.tsx'
import { Preview } from './preview.tsx'

const route = getRouteApi('/p/$project/settings/alerts/$alert')
const backLink = <PageLink {...to.alerts}>All alerts</PageLink>
const waiting = <Skeleton height={480} />

/** Makes an alert. The address says what it watches at first. */
export function NewAlertView() {
  const { of } = useProject()
  const refusal = useRefusal('change')
  const search = useSearch({ from: '/p/$project/settings/alerts/new' })
  const destinations = useQuery(read(of.alerts.destinations))
  const { filters } = watchedOf(search)
  const dates = useDates()
  // The day on which the page was opened: at midnight, what is typed stays.
  const [today] = useState(() => dates.dayOf(Date.now()))
  const perDay = useQuery(callsPerDayQuery(of, filters, today))
  return (
    <Page title="New alert" description={backLink}>
      {refusal !== null ? (
        <Empty title="Viewers cannot make alerts">{refusal}</Empty>
      ) : (
        <Loaded query={destinations} what="The destinations" waiting={waiting}>
          {({ data: offered }) =>
            perDay.isPending ? (
              waiting
            ) : (
              // Without the number of calls, the window is one for few of them.
              <AlertForm
                key={JSON.stringify(search)}
                first={newDraft(search, perDay.data ?? 0)}
                offered={offered}
              />
            )
          }
        </Loaded>
      )}
    </Page>
  )
}

/** One alert: its state, its rule, what it would have done, and what it did. */
export function AlertView() {
  const { alert: id } = route.useParams()
  const alerts = useAlerts()
  const destinations = useQuery(read(useProject().of.alerts.destinations))
  return (
    <Loaded query={alerts} what="The alert" waiting={waiting}>
      {({ data }) => (
        <Loaded query={destinations} what="The destinations" waiting={waiting}>
          {({ data: offered }) => {
            const alert = data.find((rule) => rule.id === id)
            // Another alert is another page, with nothing left of the form of the one before.
            if (alert) return <OpenAlert key={id} alert={alert} offered={offered} />
            return <PageHeader title="Alert not found" description={backLink} />
          }}
        </Loaded>
      )}
    </Loaded>
  )
}

interface OpenAlertProps {
  alert: Alert
  offered: readonly OfferedDestination[]
}

function OpenAlert({ alert, offered }: OpenAlertProps) {
  const mayChange = useRefusal('change') === null
  const [first, setFirst] = useState(() => draftOf(alert, offered))
  return (
    <Page title={alert.name} description={backLink} action={mayChange && <Actions alert={alert} />}>
      <Stack>
        <StateNow {...alert} />
        {mayChange ? (
          <AlertForm
            key={JSON.stringify(first)}
            id={alert.id}
            first={first}
            paused={alert.paused}
            offered={offered}
            onSaved={(saved, known) => setFirst(draftOf(saved, known))}
          />
        ) : (
          <ReadOnly alert={alert} offered={offered} />
        )}
        <Section title="What fired">
          <Fired alert={alert.id} />
        </Section>
      </Stack>
    </Page>
  )
}

function Actions({ alert }: { alert: Alert }) {
  const navigate = useNavigate()
  const { pause, test, remove, isTesting } = useAlertActs(alert, () => navigate(to.alerts))
  const Pause = alert.paused ? IconPlayerPlay : IconPlayerPause
  return (
    <Group gap="xs">
      {alert.to.length > 0 && (
        <TextButton
          icon={IconSend}
          label="Send a test message"
          variant="default"
          loading={isTesting}
          onClick={test}
        />
      )}
      <TextButton icon={Pause} label={alert.paused ? 'Resume' : 'Pause'} variant="default" onClick={pause} />
      <TextButton icon={IconTrash} label="Delete" variant="default" onClick={remove} />
    </Group>
  )
}

/** The state, since when, and of which figure. */
function StateNow({ of, show, state, since, value, calls, paused }: Alert) {
  return (
    <Group component="p" gap="sm" role="status">
      <AlertState state={state} />
      {paused && <StatusBadge tone="neutral" label="Paused" />}
      <span className="cb-dimmed">
        since <Instant at={since} as="moment" />
      </span>
      <span className="cb-dimmed">
        <span className="cb-figure">{valueInWords(chartOf({ of, show }).chart, value)}</span> of{' '}
        {counted(calls, 'call')}
      </span>
    </Group>
  )
}

/** The rule in words, for viewers. */
function ReadOnly({ alert, offered }: OpenAlertProps) {
  const names = useNames()
  const draft = draftOf(alert, offered)
  const filters = filtersInWords(chosenFilters(alert.filters), names)
  const notified = offered.filter(({ id }) => draft.chosen.includes(id)).map(({ name }) => name)
  return (
    <div className="cb-beside">
      <Panel title="Rule">
        <p>{ruleInWords(alert, names)}.</p>
        {filters && <p dir="auto">{filters}</p>}
        <p className="cb-dimmed">
          {notified.length > 0 ? `Notifies ${notified.join(', ')}.` : 'Notifies nobody.'}
        </p>
      </Panel>
      <Preview draft={draft} limit={numberOf(draft.alert)} />
    </div>
  )
}
