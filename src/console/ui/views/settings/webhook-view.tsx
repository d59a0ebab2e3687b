import { Box, Button, Group, Menu, NumberInput } from '@mantine/core'
import { IconRefresh, IconSend, IconTrash } from '@tabler/icons-react'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import type { WebhookEvent } from '../../../../webhooks/events.ts'
import type { WebhookRecord } from '../../../../webhooks/webhooks.ts'
import { useAct } from '../../components/acts.ts'
import { asCount, counted } from '../../components/figures.ts'
import { Instant } from '../../components/instant.tsx'
import { PageLink } from '../../components/links.tsx'
import { Mono } from '../../components/mono.tsx'
import { Facts, Loaded, Page } from '../../components/page.tsx'
import { Panel } from '../../components/panel.tsx'
import { Problem } from '../../components/problem.tsx'
import { to } from '../../components/to.ts'
import { useProject } from '../../session.ts'
import { NotFound } from '../../shell/page-problem.tsx'
import { useDeleteWebhook, useRotate } from './webhook-acts.tsx'
import { WebhookDeliveries } from './webhook-deliveries.tsx'
import { allEvents, useWebhooks } from './webhook-queries.ts'
import { SwitchedOff, WebhookState } from './webhook-state.tsx'

const route = getRouteApi('/p/$project/settings/webhooks/$webhook')

/** One webhook: how it is doing, what was sent to it, and sending again. */
export function WebhookView() {
  const { webhook: id } = route.useParams()
  const webhooks = useWebhooks()
  const webhook = webhooks.data?.data.find((one) => one.id === id)
  if (webhooks.data && !webhook) return <NotFound />
  return (
    <Page
      title={webhook ? titleOf(webhook, webhooks.data?.data ?? []) : 'Webhook'}
      description={<PageLink {...to.webhooks}>All webhooks</PageLink>}
      action={webhook && <Actions webhook={webhook} />}
    >
      <Loaded query={webhooks} what="The webhook">
        {() =>
          webhook && (
            <>
              {!webhook.enabled && <SwitchedOff row={webhook} />}
              <Endpoint webhook={webhook} />
              <WebhookDeliveries webhook={webhook} />
              {webhook.enabled && <Replay id={id} />}
            </>
          )
        }
      </Loaded>
    </Page>
  )
}

/** The host, with the path where another webhook has the same host. */
function titleOf({ id, url }: WebhookRecord, all: readonly WebhookRecord[]): string {
  const { host, pathname } = new URL(url)
  return all.some((one) => one.id !== id && new URL(one.url).host === host) ? host + pathname : host
}

function Actions({ webhook }: { webhook: WebhookRecord }) {
  const navigate = useNavigate()
  const rotate = useRotate()
  const remove = useDeleteWebhook(() => navigate(to.webhooks))
  return (
    <div className="cb-row">
      <Button variant="default" leftSection={<IconTrash size={16} />} onClick={() => remove(webhook)}>
        Delete
      </Button>
      <Button variant="default" leftSection={<IconRefresh size={16} />} onClick={() => rotate(webhook)}>
        Rotate secret
      </Button>
      <SendTest webhook={webhook} />
    </div>
  )
}

/** Sends an example of an event that the endpoint takes, and opens its delivery. */
function SendTest({ webhook: { id, events } }: { webhook: WebhookRecord }) {
  const { of } = useProject()
  const navigate = useNavigate({ from: '/p/$project/settings/webhooks/$webhook' })
  const { mutate, isPending, error, reset } = useAct({
    send: (event: WebhookEvent) => of.webhooks({ id }).test.post({ event }),
    changes: of.webhooks,
    done: ({ messageId }) => navigate({ to: '.', search: { message: messageId }, replace: true }),
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

function Endpoint({ webhook }: { webhook: WebhookRecord }) {
  const { url, events, details, pending, lastSuccessAt, previousSecretUntil, createdAt, createdBy } = webhook
  return (
    <Panel title="Endpoint" aside={<WebhookState row={webhook} isAlways />}>
      <Facts
        isWide
        of={{
          URL: <Mono>{url}</Mono>,
          Events: events.length === allEvents.length ? 'All' : <Mono>{events.join(', ')}</Mono>,
          Calls: details ? 'With their details' : 'Without their details',
          Waiting: asCount(pending),
          'Last success': lastSuccessAt ? <Instant at={lastSuccessAt} /> : 'Never',
          Created: (
            <>
              <Instant at={createdAt} as="day" /> {createdBy && `by ${createdBy}`}
            </>
          ),
          'Old secret': previousSecretUntil && (
            <>
              Also signs until <Instant at={previousSecretUntil} as="moment" />
            </>
          ),
        }}
      />
    </Panel>
  )
}

/** Sends every record again that has changed since. */
function Replay({ id }: { id: string }) {
  const { of } = useProject()
  const [after, setAfter] = useState<string | number>('')
  const { mutate, isPending, error } = useAct({
    send: (seq: number) => of.webhooks({ id }).replay.post({ after: seq }),
    changes: of.webhooks,
    says: ({ queued }) => `${counted(queued, 'record')} will be sent again.`,
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (after !== '' && !isPending) mutate(Number(after))
  }
  return (
    <Box mt="xl">
      <Panel title="Replay">
        <form onSubmit={submit} className="cb-stack">
          <Group gap="xs" align="flex-end">
            <NumberInput
              label="Send again after change"
              description="Sends each record that changed later once, in its current state. The change number of an event is its data.seq; 0 sends everything."
              placeholder="Change number"
              value={after}
              onChange={setAfter}
              min={0}
              allowDecimal={false}
              hideControls
              flex="1 1 240px"
            />
            <Button type="submit" variant="default" disabled={after === ''} loading={isPending}>
              Replay
            </Button>
          </Group>
          {error && <Problem error={error} />}
        </form>
      </Panel>
    </Box>
  )
}
