import { Box, Button, Group, Menu, NumberInput, SegmentedControl, Skeleton, Stack, Text } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import { IconRefresh, IconSend, IconTrash, IconX } from '@tabler/icons-react'
import { getRouteApi, useNavigate, useSearch } from '@tanstack/react-router'
import { type FormEvent, type ReactNode, useState } from 'react'
import type { WebhookAttempt, WebhookMessage } from '../../../../webhooks/deliveries.ts'
import type { WebhookEvent } from '../../../../webhooks/events.ts'
import type { WebhookRecord } from '../../../../webhooks/webhooks.ts'
import { useAct } from '../../components/acts.ts'
import { CodeBlock, Mono } from '../../components/code.tsx'
import { Empty } from '../../components/empty.tsx'
import { asBytes, asCount, counted } from '../../components/figures.ts'
import { IconButton, TextButton } from '../../components/icon-button.tsx'
import { Instant } from '../../components/instant.tsx'
import { PageLink } from '../../components/links.tsx'
import { Facts, Loaded, Page, Section } from '../../components/page.tsx'
import { Panel } from '../../components/panel.tsx'
import { Problem } from '../../components/problem.tsx'
import { StatusBadge } from '../../components/status-badge.tsx'
import { QueryTable, type TableProps } from '../../components/table.tsx'
import { to } from '../../components/to.ts'
import { useProject } from '../../session.ts'
import { NotFound } from '../../shell/page-problem.tsx'
import classes from './settings.module.css'
import {
  AttemptStatus,
  allEvents,
  SwitchedOff,
  useAttempts,
  useDeleteWebhook,
  useMessage,
  useRotate,
  useWebhooks,
  WebhookState,
} from './webhooks.tsx'

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
      <TextButton icon={IconTrash} label="Delete" variant="default" onClick={() => remove(webhook)} />
      <TextButton
        icon={IconRefresh}
        label="Rotate secret"
        variant="default"
        onClick={() => rotate(webhook)}
      />
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
          <TextButton icon={IconSend} label="Send a test" loading={isPending} />
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

/** Every attempt with its answer. A click shows more of it beside the list, or below its row. */
export function WebhookDeliveries({ webhook: { id, enabled } }: { webhook: WebhookRecord }) {
  const { show: which, message } = useSearch({ from: '/p/$project/settings/webhooks/$webhook' })
  const navigate = useNavigate({ from: '/p/$project/settings/webhooks/$webhook' })
  const attempts = useAttempts(id, which === 'failed')
  const rows = attempts.data?.data
  const [chosen, setChosen] = useState('')
  const listed = rows?.filter(({ messageId }) => messageId === message)
  // The list has the newest attempts alone.
  const older = useMessage(id, message ?? '', message !== undefined && listed?.length === 0)
  // Of several attempts of one message, the one that was clicked shows it; after a reload the newest.
  const open = listed?.find((row) => keyOf(row) === chosen) ?? listed?.[0] ?? older.data?.attempts[0]
  const show = (search: { show?: 'failed'; message?: string }) =>
    void navigate({ to: '.', search, replace: true, resetScroll: false })
  const filter = which ? { show: which } : {}
  const close = () => show(filter)
  const hasRoom = useMediaQuery('(min-width: 1024px)', undefined, { getInitialValueInEffect: false })
  const details = open && (
    <Message key={open.messageId} webhook={id} attempt={open} mayResend={enabled} onClose={close} />
  )
  const isListed = open !== undefined && listed?.includes(open)
  return (
    <Section
      title="Deliveries"
      aside={
        <SegmentedControl
          size="xs"
          aria-label="Which deliveries"
          value={which ?? 'all'}
          onChange={(value) => show(value === 'failed' ? { show: value } : {})}
          data={[
            { value: 'all', label: 'All' },
            { value: 'failed', label: 'Failed' },
          ]}
        />
      }
    >
      {older.error && !open && <Problem error={older.error} title="The delivery could not be loaded" />}
      <div className={open ? 'cb-beside' : undefined}>
        <QueryTable
          label="Deliveries"
          of={attempts}
          what="The deliveries"
          columns={columnsOf}
          rows={rows}
          isStale={attempts.isPlaceholderData}
          rowKey={keyOf}
          onOpen={(row) => {
            setChosen(keyOf(row))
            show({ ...filter, message: row.messageId })
          }}
          onClose={close}
          renderBelow={(row) => !hasRoom && row === open && details}
          selectedKey={open ? keyOf(open) : null}
          expectedRows={6}
          empty={
            <Empty icon={<IconSend size={24} />} title={which ? 'No failed deliveries' : 'Nothing sent yet'}>
              Each attempt is listed here for 30 days with its status, time and size.
            </Empty>
          }
        />
        {hasRoom && open && (
          <Box component="aside" aria-label="Delivery" pos="sticky" top={16} miw={0}>
            {details}
          </Box>
        )}
        {!hasRoom && !isListed && details}
      </div>
    </Section>
  )
}

const keyOf = ({ messageId, attempt }: WebhookAttempt) => `${messageId} ${attempt}`

const columnsOf: TableProps<WebhookAttempt>['columns'] = ({ cell, figure }) => [
  cell('Status', (row) => (
    <>
      <AttemptStatus attempt={row} />
      <span className="cb-narrow-line">
        {row.isTest && 'Test · '}
        {row.event} · <Instant at={row.at} as="second" />
      </span>
    </>
  )),
  cell(
    'Event',
    ({ event, isTest }) => (
      <span className={classes.keyName}>
        <Mono truncate>{event}</Mono>
        {isTest && <StatusBadge tone="neutral" label="Test" />}
      </span>
    ),
    { width: '32%', from: 640 },
  ),
  figure('Attempt', ({ attempt }) => attempt, '72px', 480),
  figure('Time', ({ durationMs }) => `${durationMs} ms`, '88px', 640),
  figure('Size', ({ bytes }) => asBytes(bytes), '80px', 800),
  cell('Sent', ({ at }) => <Instant at={at} as="second" />, { width: '168px', from: 640 }),
]

interface MessageProps {
  /** The id of the webhook. */
  webhook: string
  attempt: WebhookAttempt
  mayResend: boolean
  onClose: () => void
}

/** One message: each attempt, the answer to the newest failed one, and what would be sent now. */
function Message({ webhook, attempt, mayResend, onClose }: MessageProps) {
  const message = useMessage(webhook, attempt.messageId)
  return (
    <Loaded query={message} what="The delivery" waiting={<Skeleton height={160} />}>
      {(data) => (
        <Panel
          title={<Mono>{attempt.event}</Mono>}
          aside={<IconButton icon={IconX} label="Close the delivery" onClick={onClose} />}
        >
          <Stack gap="xs" className="cb-wrap" fz="xs" lh="16px">
            <Attempts message={data} attempt={attempt} />
            <Answer message={data} />
            <Heading>Sent now, it would be</Heading>
            <Body message={data} attempt={attempt} />
            <div className="cb-row">
              {data.body && <Resend webhook={webhook} message={attempt.messageId} isReady={mayResend} />}
              {data.callId && <PageLink {...to.call(data.callId)}>Open the call</PageLink>}
            </div>
          </Stack>
        </Panel>
      )}
    </Loaded>
  )
}

const Heading = ({ children }: { children: ReactNode }) => (
  <Text component="h3" size="xs" fw={500} lh="16px" mt="xs">
    {children}
  </Text>
)

interface PartProps {
  message: WebhookMessage
  attempt: WebhookAttempt
}

function Attempts({ message: { attempts, nextAt }, attempt: { messageId, bytes } }: PartProps) {
  return (
    <>
      <Heading>Attempts</Heading>
      <Stack component="ol" gap={4}>
        {nextAt && (
          <li className="cb-dimmed">
            Next try <Instant at={nextAt} as="coming" />
          </li>
        )}
        {attempts.map((each) => (
          <Group component="li" key={each.attempt} gap="4px 12px">
            <span className="cb-figure cb-dimmed">{each.attempt}</span>
            <AttemptStatus attempt={each} />
            <span className="cb-figure cb-dimmed">{each.durationMs} ms</span>
            <Instant at={each.at} as="second" />
          </Group>
        ))}
      </Stack>
      <p className="cb-dimmed">
        <Mono>{messageId}</Mono> · {asBytes(bytes)}
      </p>
    </>
  )
}

/** How the answer begins, in the endpoint's words. */
function Answer({ message: { attempts } }: { message: WebhookMessage }) {
  const answered = attempts.find(({ answer }) => answer !== null)
  if (!answered) return null
  return (
    <>
      <Heading>Answer to attempt {answered.attempt}</Heading>
      <Box mah={200} style={{ overflow: 'auto' }} dir="auto">
        <CodeBlock code={pretty(answered.answer ?? '')} label="Copy the answer" />
      </Box>
      <p className="cb-dimmed">The first 2 KiB. Erased with its record, and after 7 days.</p>
    </>
  )
}

function Body({ message: { body }, attempt: { isTest, event } }: PartProps) {
  if (!body) return <p className="cb-dimmed">{whyNoBody(event, isTest)}</p>
  return (
    <Box mah={360} style={{ overflow: 'auto' }}>
      <CodeBlock code={body.isCut ? `${body.text}…` : pretty(body.text)} label="Copy the body" />
    </Box>
  )
}

function whyNoBody(event: string, isTest: boolean): string {
  if (isTest) return 'A test is an example, and is sent once.'
  if (event === 'alert.changed') return 'Nothing: an alert tells of a moment that is over.'
  return 'Nothing: its record is gone, or cannot be found by vector search yet.'
}

/** JSON with its lines; any other text as it is. */
function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    // An answer may be anything, and its end may be cut off.
    return text
  }
}

function Resend({ webhook: id, message, isReady }: { webhook: string; message: string; isReady: boolean }) {
  const { of } = useProject()
  const { mutate, isPending, error } = useAct({
    send: () => of.webhooks({ id }).messages({ message }).resend.post({}),
    changes: of.webhooks,
    says: 'The event is being sent again.',
  })
  return (
    <>
      <TextButton
        icon={IconSend}
        label="Resend this one"
        variant="default"
        loading={isPending}
        disabled={!isReady}
        onClick={() => mutate(undefined)}
      />
      {!isReady && <span className="cb-dimmed">Enable the webhook first.</span>}
      {error && <Problem error={error} title="It could not be sent again" />}
    </>
  )
}
