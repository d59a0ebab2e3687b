import { ActionIcon, Button, Menu } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import {
  IconAlertTriangle,
  IconCheck,
  IconDots,
  IconList,
  IconPlus,
  IconPower,
  IconRefresh,
  IconTrash,
  IconWebhook,
} from '@tabler/icons-react'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import type { WebhookRecord } from '../../../../webhooks/webhooks.ts'
import { api, unwrap } from '../../api.ts'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { Empty } from '../../components/empty.tsx'
import { asCount, counted } from '../../components/figures.ts'
import { Instant } from '../../components/instant.tsx'
import { type Column, ListTable } from '../../components/list-table.tsx'
import { Mono } from '../../components/mono.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { Problem } from '../../components/problem.tsx'
import { StatusBadge } from '../../components/status-badge.tsx'
import { focusedOrMenu } from '../../components/use-focus.ts'
import { useProject } from '../../session.ts'
import { NewWebhookDialog } from './new-webhook-dialog.tsx'
import { OwnersOnly } from './owners-only.tsx'
import { RotateDialog } from './rotate-dialog.tsx'
import classes from './settings.module.css'
import { WebhookAttempts } from './webhook-attempts.tsx'
import { events, webhooksQuery } from './webhook-queries.ts'

/** The project's webhooks: list, create, rotate, send again, switch on, remove. */
export function WebhooksView() {
  return (
    <OwnersOnly title="Webhooks">
      <Webhooks />
    </OwnersOnly>
  )
}

interface Actions {
  open: (webhook: WebhookRecord) => void
  rotate: (webhook: WebhookRecord) => void
  remove: (webhook: WebhookRecord) => void
}

function Webhooks() {
  const { id: project } = useProject()
  const { data, error, refetch } = useQuery(webhooksQuery(project))
  const { create, webhook: openId } = useSearch({ from: '/p/$project/settings/webhooks' })
  const navigate = useNavigate({ from: '/p/$project/settings/webhooks' })
  const [rotating, setRotating] = useState<WebhookRecord | null>(null)
  const [removing, setRemoving] = useState<WebhookRecord | null>(null)
  const show = (search: { create?: 'webhook'; webhook?: string }) =>
    // Ignores the blocker: the dialog of a new secret blocks all other navigation until it is stored.
    void navigate({ to: '.', search, replace: true, ignoreBlocker: true })
  const open = ({ id }: WebhookRecord) => show({ webhook: id })
  const createButton = (
    <Button leftSection={<IconPlus size={16} />} onClick={() => show({ create: 'webhook' })}>
      Create webhook
    </Button>
  )
  const empty = (
    <Empty icon={<IconWebhook size={24} />} title="No webhooks yet" action={createButton}>
      A webhook tells your own program when a call starts, changes or is completed, and when knowledge
      changes. Each event is a signed request with the record.
    </Empty>
  )
  return (
    <>
      <PageHeader
        title="Webhooks"
        description="Endpoints that Callbook notifies when this project’s calls and knowledge change."
        action={createButton}
      />
      {error && !data ? (
        <Problem error={error} title="The webhooks could not be loaded" onRetry={() => void refetch()} />
      ) : (
        <ListTable
          label="Webhooks"
          columns={columnsOf({ open, rotate: setRotating, remove: setRemoving })}
          rows={data?.data}
          rowKey={({ id }) => id}
          onOpen={open}
          renderBelow={(row) => (row.enabled ? null : <SwitchedOff row={row} />)}
          expectedRows={3}
          empty={empty}
        />
      )}
      <NewWebhookDialog opened={create === 'webhook'} onClose={() => show({})} />
      <WebhookAttempts
        webhook={data?.data.find(({ id }) => id === openId) ?? null}
        onClose={() => show({})}
      />
      <RotateDialog webhook={rotating} onClose={() => setRotating(null)} />
      <RemoveDialog removing={removing} onClose={() => setRemoving(null)} />
    </>
  )
}

function columnsOf(actions: Actions): Column<WebhookRecord>[] {
  return [
    {
      key: 'url',
      header: 'URL',
      render: (row) => (
        <span className={classes.keyName}>
          <Mono truncate>{row.url}</Mono>
          <State row={row} />
        </span>
      ),
    },
    { key: 'events', header: 'Events', width: '112px', from: 640, render: (row) => <Events row={row} /> },
    {
      key: 'pending',
      header: 'Waiting',
      width: '80px',
      align: 'right',
      from: 480,
      render: ({ pending }) => (
        <span className={pending === 0 ? 'cb-figure cb-dimmed' : 'cb-figure'}>{asCount(pending)}</span>
      ),
    },
    {
      key: 'success',
      header: 'Last success',
      width: '120px',
      from: 640,
      render: ({ lastSuccessAt }) =>
        lastSuccessAt ? <Instant at={lastSuccessAt} /> : <span className="cb-dimmed">Never</span>,
    },
    {
      key: 'actions',
      header: <span className="cb-hidden">Actions</span>,
      width: '48px',
      align: 'right',
      render: (row) => <RowMenu row={row} {...actions} />,
    },
  ]
}

function State({ row: { enabled, failures } }: { row: WebhookRecord }) {
  if (!enabled)
    return (
      <StatusBadge tone="danger" icon={<IconPower size={12} />}>
        Disabled
      </StatusBadge>
    )
  if (failures === 0) return null
  return (
    <StatusBadge tone="warning" icon={<IconAlertTriangle size={12} />}>
      {counted(failures, 'failure')}
    </StatusBadge>
  )
}

function Events({ row }: { row: WebhookRecord }) {
  if (row.events.length === events.length) return <span className="cb-dimmed">All</span>
  return (
    <span title={row.events.join('\n')} className="cb-figure">
      {row.events.length} of {events.length}
    </span>
  )
}

function RowMenu({ row, open, rotate, remove }: Actions & { row: WebhookRecord }) {
  // The dialog gives the focus back to what had it.
  const from = (act: Actions['open']) => () => {
    focusedOrMenu()?.focus()
    act(row)
  }
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" aria-label={`Actions for ${row.url}`}>
          <IconDots size={16} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item leftSection={<IconList size={16} />} onClick={from(open)}>
          Deliveries and replay
        </Menu.Item>
        <Menu.Item leftSection={<IconRefresh size={16} />} onClick={from(rotate)}>
          Rotate secret
        </Menu.Item>
        <Menu.Item color="var(--cb-danger-text)" leftSection={<IconTrash size={16} />} onClick={from(remove)}>
          Delete
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}

function SwitchedOff({ row: { id, disabledAt, disabledReason } }: { row: WebhookRecord }) {
  const { id: project } = useProject()
  const queryClient = useQueryClient()
  const { mutate, isPending } = useMutation({
    mutationFn: () => unwrap(api.projects({ project }).webhooks({ id }).enable.post({})),
    onSuccess: () => queryClient.invalidateQueries(webhooksQuery(project)),
    onError: (failure) => notifications.show({ color: 'red', message: String(failure.message) }),
  })
  return (
    <span className={classes.webhookOff}>
      <span>
        {disabledReason} Disabled {disabledAt && <Instant at={disabledAt} />}. Nothing is sent until you
        enable it.
      </span>
      <Button size="compact-xs" variant="default" loading={isPending} onClick={() => mutate()}>
        Enable and send missed events
      </Button>
    </span>
  )
}

function RemoveDialog({ removing, onClose }: { removing: WebhookRecord | null; onClose: () => void }) {
  const { id: project } = useProject()
  const queryClient = useQueryClient()
  const remove = async ({ id }: WebhookRecord) => {
    await unwrap(api.projects({ project }).webhooks({ id }).delete())
    await queryClient.invalidateQueries(webhooksQuery(project))
    notifications.show({ message: 'Webhook deleted.', icon: <IconCheck size={16} /> })
  }
  return (
    <ConfirmDialog
      opened={removing !== null}
      onClose={onClose}
      title="Delete this webhook?"
      confirmLabel="Delete webhook"
      onConfirm={async () => removing && remove(removing)}
    >
      <p>
        <Mono>{removing?.url}</Mono> will get no more events. Its waiting events and its list of deliveries
        are deleted.
      </p>
    </ConfirmDialog>
  )
}
