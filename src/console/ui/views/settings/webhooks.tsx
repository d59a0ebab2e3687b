import { Button, Checkbox, Group, SimpleGrid, Text, TextInput } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { IconAlertTriangle, IconCheck, IconPower } from '@tabler/icons-react'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import type { WebhookAttempt } from '../../../../webhooks/deliveries.ts'
import type { WebhookEvent } from '../../../../webhooks/events.ts'
import type { WebhookRecord } from '../../../../webhooks/webhooks.ts'
import { read } from '../../api.ts'
import { useAct } from '../../components/acts.ts'
import { ApiForm, useApiForm } from '../../components/api-form.tsx'
import { Mono } from '../../components/code.tsx'
import { useConfirm, useShow } from '../../components/dialogs.tsx'
import { counted } from '../../components/figures.ts'
import { Instant } from '../../components/instant.tsx'
import { ShownOnce } from '../../components/shown-once.tsx'
import { StatusBadge } from '../../components/status-badge.tsx'
import { useProject } from '../../session.ts'

/** Each event, and when it is sent. */
const eventWords = {
  'call.started': 'A live call started',
  'call.changed': 'A call changed',
  'call.completed': 'A call was completed',
  'call.deleted': 'A call was deleted',
  'knowledge.changed': 'An item was stored or changed',
  'knowledge.ready': 'Vector search can find an item',
  'knowledge.deleted': 'An item was deleted',
  'erasure.done': 'An erasure request was completed',
  'call.analyzed': 'A call was analyzed',
  'alert.changed': 'An alert changed its state',
} as const satisfies Record<WebhookEvent, string>

export const allEvents = Object.entries(eventWords)

/** A secret of 70 characters stands on one line. */
const secretSize = 600
const every: string[] = allEvents.map(([event]) => event)

/** Opens the dialog that creates a webhook and shows its secret once. */
export function useNewWebhook() {
  const show = useShow()
  return () =>
    show({
      title: 'Create webhook',
      size: secretSize,
      content: (close) => <NewWebhook onCancel={close} />,
    })
}

function NewWebhook({ onCancel }: { onCancel: () => void }) {
  const { of } = useProject()
  const showSecret = useShowSecret()
  const form = useApiForm({
    first: { url: '', events: every, details: false },
    needs: ['url'],
    isReady: ({ events }) => events.length > 0,
    body: ({ url, ...more }) => ({ url: url.trim(), ...more }),
    send: (body) => of.webhooks.post(body),
    changes: of.webhooks,
    done: ({ secret }) => showSecret(secret),
  })
  const { events } = form.values
  return (
    <ApiForm form={form} label="Create webhook" onCancel={onCancel}>
      <TextInput
        label="URL"
        description="Callbook posts events to this HTTPS address. It must be public."
        placeholder="https://example.com/callbook"
        spellCheck={false}
        data-autofocus
        {...form.field('url')}
      />
      <Checkbox.Group label="Events" {...form.field('events')}>
        <Button
          variant="default"
          size="compact-xs"
          my="xs"
          onClick={() => form.set({ events: events.length === 0 ? every : [] })}
        >
          {events.length === 0 ? 'Choose all' : 'Clear all'}
        </Button>
        <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
          {allEvents.map(([event, words]) => (
            <Checkbox
              key={event}
              value={event}
              size="xs"
              label={<span className="cb-mono">{event}</span>}
              description={words}
            />
          ))}
        </SimpleGrid>
      </Checkbox.Group>
      <Checkbox
        size="xs"
        label="Send calls with their details"
        description="Agent, cost, tool calls, review and metadata"
        checked={form.values.details}
        onChange={(event) => form.set({ details: event.currentTarget.checked })}
      />
    </ApiForm>
  )
}

/** Asks before a webhook gets a new secret, and shows that once. */
export function useRotate() {
  const { of } = useProject()
  const ask = useConfirm()
  const showSecret = useShowSecret()
  return ({ id }: WebhookRecord) =>
    ask({
      title: 'Rotate the secret?',
      verb: 'Rotate secret',
      text: 'You get a new secret. For 24 hours, events are signed with both secrets, so that you have time to update your endpoint.',
      send: () => of.webhooks({ id }).rotate.post({}),
      changes: of.webhooks,
      done: ({ secret }) => showSecret(secret, 'Events are also signed with the old secret for 24 hours.'),
    })
}

/** Asks before a webhook is deleted; `onDeleted` leaves its page. */
export function useDeleteWebhook(onDeleted?: () => Promise<void>) {
  const { of } = useProject()
  const ask = useConfirm()
  return ({ id, url }: WebhookRecord) =>
    ask({
      title: 'Delete this webhook?',
      verb: 'Delete webhook',
      text: (
        <p>
          <Mono>{url}</Mono> will get no more events. Its waiting events and its list of deliveries are
          deleted.
        </p>
      ),
      send: async () => {
        const answer = await of.webhooks({ id }).delete()
        // Before the list is loaded again, without which the page would not be found.
        if (!answer.error) await onDeleted?.()
        return answer
      },
      changes: of.webhooks,
      says: 'Webhook deleted.',
    })
}

/** Shows a webhook's new secret, this once. Only the dialog has it, never a cache. */
function useShowSecret() {
  const show = useShow()
  return (secret: string, note?: string) =>
    show({
      title: 'Save the secret',
      size: secretSize,
      isLocked: true,
      content: (close) => (
        <ShownOnce
          what="secret"
          text={secret}
          warning={
            <>This is the only time the secret is shown. Your endpoint uses it to verify each event. {note}</>
          }
          onStored={close}
        >
          <Text size="xs" c="dimmed">
            Events are signed as Standard Webhooks specifies.{' '}
            <a href="/docs/guide/webhooks#verify-it" target="_blank" rel="noreferrer">
              How to verify events
            </a>
          </Text>
        </ShownOnce>
      ),
    })
}

/** @param isAlways also when there is nothing to say */
export function WebhookState({ row, isAlways = false }: { row: WebhookRecord; isAlways?: boolean }) {
  const { enabled, failures } = row
  if (!enabled) return <StatusBadge tone="danger" icon={IconPower} label="Disabled" />
  if (failures > 0)
    return <StatusBadge tone="warning" icon={IconAlertTriangle} label={counted(failures, 'failure')} />
  return isAlways ? <StatusBadge tone="neutral" icon={IconCheck} label="Enabled" /> : null
}

/** Why it is disabled, and enabling it. */
export function SwitchedOff({ row: { id, disabledAt, disabledReason } }: { row: WebhookRecord }) {
  const { of } = useProject()
  const enable = useAct({ send: () => of.webhooks({ id }).enable.post({}), changes: of.webhooks })
  const sayWhyNot = ({ message }: Error) => notifications.show({ color: 'red', message })
  return (
    <Group gap="xs" pt={4} pb="xs" c="dimmed">
      <span>
        {disabledReason} Disabled {disabledAt && <Instant at={disabledAt} />}. Nothing is sent until you
        enable it.
      </span>
      <Button
        size="compact-xs"
        variant="default"
        loading={enable.isPending}
        onClick={() => enable.mutate(undefined, { onError: sayWhyNot })}
      >
        Enable and send missed events
      </Button>
    </Group>
  )
}

/** The status of the answer, or why there was none. */
export function AttemptStatus({
  attempt: { status, error },
}: {
  attempt: Pick<WebhookAttempt, 'status' | 'error'>
}) {
  if (status !== null && status >= 200 && status < 300)
    return <span className="cb-figure cb-dimmed">{status}</span>
  return (
    <span title={error ?? undefined}>
      <StatusBadge tone="danger" icon={IconAlertTriangle} label={status ?? error} />
    </span>
  )
}

const refetchInterval = 5_000

/** The webhooks of the project, without their secrets. */
export function useWebhooks() {
  return useQuery({ ...read(useProject().of.webhooks), refetchInterval })
}

/** The newest attempts to send events to a webhook; or the newest that failed. */
export function useAttempts(id: string, isFailed: boolean) {
  const { attempts } = useProject().of.webhooks({ id })
  const query = isFailed ? ({ failed: 'true' } as const) : {}
  return useQuery({ ...read(attempts, query), refetchInterval, placeholderData: keepPreviousData })
}

/** One message with its attempts. */
export function useMessage(id: string, message: string, isOn = true) {
  const at = useProject().of.webhooks({ id }).messages({ message })
  return useQuery({ ...read(at), refetchInterval, enabled: isOn })
}
