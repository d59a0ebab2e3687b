import { Button, Checkbox, SimpleGrid, Text, TextInput } from '@mantine/core'
import type { WebhookRecord } from '../../../../webhooks/webhooks.ts'
import { ApiForm, useApiForm } from '../../components/api-form.tsx'
import { useConfirm, useShow } from '../../components/dialogs.tsx'
import { Mono } from '../../components/mono.tsx'
import { ShownOnce } from '../../components/shown-once.tsx'
import { useProject } from '../../session.ts'
import { allEvents } from './webhook-queries.ts'

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
