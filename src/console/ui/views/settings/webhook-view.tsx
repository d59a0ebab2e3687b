import { Button, Menu, Skeleton } from '@mantine/core'
import { IconRefresh, IconSend, IconTrash } from '@tabler/icons-react'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import type { WebhookEvent } from '../../../../webhooks/events.ts'
import type { WebhookRecord } from '../../../../webhooks/webhooks.ts'
import { api, unwrap } from '../../api.ts'
import { asCount } from '../../components/figures.ts'
import { Instant } from '../../components/instant.tsx'
import { PageLink } from '../../components/links.tsx'
import { Mono } from '../../components/mono.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { Panel } from '../../components/panel.tsx'
import { Problem } from '../../components/problem.tsx'
import { NotFound } from '../../shell/not-found.tsx'
import { OwnersOnly } from './owners-only.tsx'
import { RotateDialog } from './rotate-dialog.tsx'
import classes from './settings.module.css'
import { WebhookDeliveries } from './webhook-deliveries.tsx'
import { allEvents, webhooksQuery } from './webhook-queries.ts'
import { WebhookReplay } from './webhook-replay.tsx'
import { RemoveDialog, SwitchedOff, WebhookState } from './webhook-state.tsx'

const route = getRouteApi('/p/$project/settings/webhooks/$webhook')

/** One webhook: how it is doing, what was sent to it, and sending again. */
export function WebhookView() {
  return (
    <OwnersOnly title="Webhook">
      <Webhook />
    </OwnersOnly>
  )
}

function Webhook() {
  const { project, webhook: id } = route.useParams()
  const { data, error, refetch } = useQuery(webhooksQuery(project))
  const webhook = data?.data.find((one) => one.id === id)
  if (error && !data)
    return <Problem error={error} title="The webhook could not be loaded" onRetry={() => void refetch()} />
  if (data && !webhook) return <NotFound />
  return (
    <>
      <PageHeader
        title={webhook ? new URL(webhook.url).host : 'Webhook'}
        description={
          <PageLink to="/p/$project/settings/webhooks" params={{ project }}>
            All webhooks
          </PageLink>
        }
        action={webhook && <Actions webhook={webhook} project={project} />}
      />
      {webhook ? (
        <>
          {!webhook.enabled && <SwitchedOff row={webhook} />}
          <Facts webhook={webhook} />
          <WebhookDeliveries webhook={webhook} />
          {webhook.enabled && <WebhookReplay id={id} />}
        </>
      ) : (
        <Skeleton height={240} />
      )}
    </>
  )
}

function Actions({ webhook, project }: { webhook: WebhookRecord; project: string }) {
  const [rotating, setRotating] = useState<WebhookRecord | null>(null)
  const [removing, setRemoving] = useState<WebhookRecord | null>(null)
  const navigate = useNavigate()
  return (
    <div className="cb-row">
      <Button variant="default" leftSection={<IconTrash size={16} />} onClick={() => setRemoving(webhook)}>
        Delete
      </Button>
      <Button variant="default" leftSection={<IconRefresh size={16} />} onClick={() => setRotating(webhook)}>
        Rotate secret
      </Button>
      <SendTest webhook={webhook} project={project} />
      <RotateDialog webhook={rotating} onClose={() => setRotating(null)} />
      <RemoveDialog
        removing={removing}
        onClose={() => setRemoving(null)}
        onRemoved={() => navigate({ to: '/p/$project/settings/webhooks', params: { project } })}
      />
    </div>
  )
}

/** Sends an example of an event that the endpoint takes, and opens its delivery. */
function SendTest({ webhook: { id, events }, project }: { webhook: WebhookRecord; project: string }) {
  const queryClient = useQueryClient()
  const navigate = useNavigate({ from: '/p/$project/settings/webhooks/$webhook' })
  const { mutate, isPending, error, reset } = useMutation({
    mutationFn: (event: WebhookEvent) =>
      unwrap(api.projects({ project }).webhooks({ id }).test.post({ event })),
    onSuccess: async ({ messageId }) => {
      await queryClient.invalidateQueries(webhooksQuery(project))
      await navigate({ to: '.', search: { message: messageId }, replace: true })
    },
  })
  return (
    <>
      <Menu position="bottom-end" onOpen={reset}>
        <Menu.Target>
          <Button leftSection={<IconSend size={16} />} loading={isPending}>
            Send a test
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Label>An example, once, marked as a test</Menu.Label>
          {events.map((event) => (
            <Menu.Item key={event} onClick={() => mutate(event)}>
              <Mono>{event}</Mono>
            </Menu.Item>
          ))}
        </Menu.Dropdown>
      </Menu>
      {error && <Problem error={error} title="The test could not be sent" />}
    </>
  )
}

function Facts({ webhook }: { webhook: WebhookRecord }) {
  const { url, events, details, pending, lastSuccessAt, previousSecretUntil, createdAt, createdBy } = webhook
  const facts = [
    ['URL', <Mono key="url">{url}</Mono>],
    ['Events', events.length === allEvents.length ? 'All' : <Mono key="events">{events.join(', ')}</Mono>],
    ['Calls', details ? 'With their details' : 'Without their details'],
    ['Waiting', asCount(pending)],
    ['Last success', lastSuccessAt ? <Instant key="success" at={lastSuccessAt} /> : 'Never'],
    [
      'Created',
      <span key="created">
        <Instant at={createdAt} as="day" /> {createdBy && `by ${createdBy}`}
      </span>,
    ],
  ] as const
  return (
    <Panel title="Endpoint" aside={<WebhookState row={webhook} isAlways />}>
      <dl className={`${classes.facts} ${classes.webhookFacts}`}>
        {facts.map(([label, value]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>{value}</dd>
          </div>
        ))}
        {previousSecretUntil && (
          <div>
            <dt>Old secret</dt>
            <dd>
              Also signs until <Instant at={previousSecretUntil} as="moment" />
            </dd>
          </div>
        )}
      </dl>
    </Panel>
  )
}
