import { Button, Group, Modal, NumberInput } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { IconAlertTriangle, IconCheck, IconSend } from '@tabler/icons-react'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import type { WebhookAttempt, WebhookRecord } from '../../../../webhooks/webhooks.ts'
import { api, unwrap } from '../../api.ts'
import { Empty } from '../../components/empty.tsx'
import { counted } from '../../components/figures.ts'
import { Instant } from '../../components/instant.tsx'
import { type Column, ListTable } from '../../components/list-table.tsx'
import { Mono } from '../../components/mono.tsx'
import { Problem } from '../../components/problem.tsx'
import { StatusBadge } from '../../components/status-badge.tsx'
import { useProject } from '../../session.ts'
import classes from './settings.module.css'
import { triesQuery, webhooksQuery } from './webhook-queries.ts'

/** What was sent to a webhook, with each answer; and sending it again. */
export function WebhookAttempts({
  webhook,
  onClose,
}: {
  webhook: WebhookRecord | null
  onClose: () => void
}) {
  return (
    <Modal opened={webhook !== null} onClose={onClose} title="Deliveries" size={860}>
      {webhook && <Attempts webhook={webhook} />}
    </Modal>
  )
}

function Attempts({ webhook: { id, url, enabled } }: { webhook: WebhookRecord }) {
  const { id: project } = useProject()
  const { data, error, refetch } = useQuery(triesQuery(project, id))
  return (
    <div className="cb-stack">
      <p className={classes.webhookUrl}>
        <Mono>{url}</Mono>
      </p>
      {enabled && <Replay id={id} />}
      {error && !data ? (
        <Problem error={error} title="The deliveries could not be loaded" onRetry={() => void refetch()} />
      ) : (
        <ListTable
          label="Deliveries"
          columns={columns}
          rows={data?.data}
          rowKey={({ messageId, attempt, at }) => `${messageId} ${attempt} ${at}`}
          expectedRows={6}
          empty={
            <Empty icon={<IconSend size={24} />} title="Nothing sent yet">
              Each attempt is listed here for 30 days with its response, time and size. Bodies are not kept.
            </Empty>
          }
        />
      )}
    </div>
  )
}

const columns: Column<WebhookAttempt>[] = [
  { key: 'at', header: 'When', width: '96px', render: ({ at }) => <Instant at={at} /> },
  { key: 'event', header: 'Event', width: '176px', from: 640, render: ({ event }) => <Mono>{event}</Mono> },
  {
    key: 'seq',
    header: 'Change',
    width: '72px',
    align: 'right',
    from: 640,
    render: ({ seq }) => <span className="cb-figure">{seq}</span>,
  },
  {
    key: 'attempt',
    header: 'Attempt',
    width: '72px',
    align: 'right',
    from: 480,
    render: ({ attempt }) => <span className="cb-figure">{attempt}</span>,
  },
  {
    key: 'answer',
    header: 'Response',
    render: (row) => (
      <>
        <Answer row={row} />
        <span className="cb-narrow-line">{row.event}</span>
      </>
    ),
  },
  {
    key: 'time',
    header: 'Time',
    width: '80px',
    align: 'right',
    from: 640,
    render: ({ durationMs }) => <span className="cb-figure">{durationMs} ms</span>,
  },
  {
    key: 'size',
    header: 'Size',
    width: '80px',
    align: 'right',
    from: 640,
    render: ({ bytes }) => <span className="cb-figure">{sizeOf(bytes)}</span>,
  },
]

function Answer({ row: { status, error } }: { row: WebhookAttempt }) {
  if (status !== null && status >= 200 && status < 300)
    return <span className="cb-figure cb-dimmed">{status}</span>
  return (
    <span title={error ?? undefined}>
      <StatusBadge tone="danger" icon={<IconAlertTriangle size={12} />}>
        {status === null ? error : `${status}`}
      </StatusBadge>
    </span>
  )
}

function Replay({ id }: { id: string }) {
  const { id: project } = useProject()
  const queryClient = useQueryClient()
  const [after, setAfter] = useState<string | number>('')
  const { mutate, isPending, error } = useMutation({
    mutationFn: () =>
      unwrap(
        api
          .projects({ project })
          .webhooks({ id })
          .replay.post({ after: Number(after) }),
      ),
    onSuccess: async ({ queued }) => {
      notifications.show({
        message: `${counted(queued, 'record')} will be sent again.`,
        icon: <IconCheck size={16} />,
      })
      await queryClient.invalidateQueries(webhooksQuery(project))
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (after !== '' && !isPending) mutate()
  }
  return (
    <form onSubmit={submit}>
      <Group gap="xs" align="flex-end">
        <NumberInput
          label="Send again"
          description="Sends each record that changed after this change number once, in its current state. 0 sends everything."
          placeholder="Change number"
          value={after}
          onChange={setAfter}
          min={0}
          allowDecimal={false}
          hideControls
          className={classes.webhookAfter}
        />
        <Button type="submit" variant="default" disabled={after === ''} loading={isPending}>
          Replay
        </Button>
      </Group>
      {error && <Problem error={error} />}
    </form>
  )
}

function sizeOf(bytes: number): string {
  return bytes < 1_024 ? `${bytes} B` : `${(bytes / 1_024).toFixed(bytes < 10_240 ? 1 : 0)} KB`
}
