import { Button, Skeleton } from '@mantine/core'
import { IconPlayerPause, IconPlayerPlay, IconSend, IconTrash } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import type { Alert } from '../../../../alerts/schemas.ts'
import { counted } from '../../components/figures.ts'
import { Instant } from '../../components/instant.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { Panel } from '../../components/panel.tsx'
import { Problem } from '../../components/problem.tsx'
import { StatusBadge } from '../../components/status-badge.tsx'
import { useRefusal } from '../../session.ts'
import { chartOf } from '../charts/chart.ts'
import { chosenFilters, draftOf, numberOf } from './alert-draft.ts'
import { AlertForm } from './alert-form.tsx'
import { alertsQuery, destinationsQuery, type OfferedDestination } from './alert-queries.ts'
import { AlertState } from './alert-state.tsx'
import { filtersInWords, ruleInWords, valueInWords } from './alert-words.ts'
import classes from './alerts.module.css'
import { DeleteAlert } from './delete-alert.tsx'
import { Fired } from './fired.tsx'
import { AllAlerts } from './new-alert-view.tsx'
import { PreviewPanel } from './preview-panel.tsx'
import { useAlertActions } from './use-alert-actions.ts'
import { useNames } from './use-names.ts'

const route = getRouteApi('/p/$project/settings/alerts/$alert')

/** One alert: its state, its rule, what it would have done, and what it did. */
export function AlertView() {
  const { project, alert: id } = route.useParams()
  const rules = useQuery(alertsQuery(project))
  const destinations = useQuery(destinationsQuery(project))
  const error = rules.error ?? destinations.error
  if (error && !(rules.data && destinations.data))
    return (
      <Problem
        error={error}
        title="The alert could not be loaded"
        onRetry={() => void Promise.all([rules.refetch(), destinations.refetch()])}
      />
    )
  if (!rules.data || !destinations.data) return <Skeleton height={480} />
  const alert = rules.data.find((rule) => rule.id === id)
  if (!alert) return <PageHeader title="Alert not found" description={<AllAlerts />} />
  // Another alert is another page, with nothing left of the form of the one before.
  return <OpenAlert key={id} alert={alert} offered={destinations.data} />
}

function OpenAlert({ alert, offered }: { alert: Alert; offered: readonly OfferedDestination[] }) {
  const mayChange = useRefusal('change') === null
  const [first, setFirst] = useState(() => draftOf(alert, offered))
  return (
    <>
      <PageHeader
        title={alert.name}
        description={<AllAlerts />}
        action={mayChange && <Actions alert={alert} />}
      />
      <div className="cb-stack">
        <StateNow alert={alert} />
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
        <section className={classes.fired} aria-labelledby="fired">
          <h2 id="fired">What fired</h2>
          <Fired alert={alert.id} />
        </section>
      </div>
    </>
  )
}

function Actions({ alert }: { alert: Alert }) {
  const { project } = route.useParams()
  const navigate = useNavigate()
  const [isDeleting, setDeleting] = useState(false)
  const { pause, test, isTesting } = useAlertActions(alert.id)
  const { paused, to } = alert
  return (
    <div className="cb-row">
      {to.length > 0 && (
        <Button
          variant="default"
          leftSection={<IconSend size={14} aria-hidden />}
          loading={isTesting}
          onClick={() => test()}
        >
          Send a test message
        </Button>
      )}
      <Button
        variant="default"
        leftSection={
          paused ? <IconPlayerPlay size={14} aria-hidden /> : <IconPlayerPause size={14} aria-hidden />
        }
        onClick={() => pause(!paused)}
      >
        {paused ? 'Resume' : 'Pause'}
      </Button>
      <Button
        variant="default"
        leftSection={<IconTrash size={14} aria-hidden />}
        onClick={() => setDeleting(true)}
      >
        Delete
      </Button>
      <DeleteAlert
        deleting={isDeleting ? alert : null}
        onClose={() => setDeleting(false)}
        onDeleted={() => void navigate({ to: '/p/$project/settings/alerts', params: { project } })}
      />
    </div>
  )
}

/** The state, since when, and of which figure. */
function StateNow({ alert: { of, show, state, since, value, calls, paused } }: { alert: Alert }) {
  return (
    <p className={classes.state} role="status">
      <AlertState state={state} />
      {paused && <StatusBadge tone="neutral">Paused</StatusBadge>}
      <span className="cb-dimmed">
        since <Instant at={since} as="moment" />
      </span>
      <span className="cb-dimmed">
        <span className="cb-figure">{valueInWords(chartOf({ of, show }).chart, value)}</span> of{' '}
        {counted(calls, 'call')}
      </span>
    </p>
  )
}

/** The rule in words, for viewers. */
function ReadOnly({ alert, offered }: { alert: Alert; offered: readonly OfferedDestination[] }) {
  const names = useNames()
  const draft = draftOf(alert, offered)
  const filters = filtersInWords(chosenFilters(alert.filters), names)
  const told = offered.filter(({ id }) => draft.chosen.includes(id)).map(({ name }) => name)
  return (
    <div className={classes.form}>
      <Panel title="Rule">
        <p>{ruleInWords(alert, names)}.</p>
        {filters && <p dir="auto">{filters}</p>}
        <p className="cb-dimmed">{told.length > 0 ? `Tells ${told.join(', ')}.` : 'Tells nobody.'}</p>
      </Panel>
      <PreviewPanel draft={draft} limit={numberOf(draft.alert)} />
    </div>
  )
}
