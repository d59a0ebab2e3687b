import { ActionIcon, Button, Menu } from '@mantine/core'
import { IconDots, IconList, IconPlus, IconRefresh, IconTrash, IconWebhook } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import type { WebhookRecord } from '../../../../webhooks/webhooks.ts'
import { Empty } from '../../components/empty.tsx'
import { asCount } from '../../components/figures.ts'
import { Instant } from '../../components/instant.tsx'
import { PageLink } from '../../components/links.tsx'
import { type Column, ListTable } from '../../components/list-table.tsx'
import { Mono } from '../../components/mono.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { Problem } from '../../components/problem.tsx'
import { focusedOrMenu } from '../../components/use-focus.ts'
import { useProject } from '../../session.ts'
import { NewWebhookDialog } from './new-webhook-dialog.tsx'
import { OwnersOnly } from './owners-only.tsx'
import { RotateDialog } from './rotate-dialog.tsx'
import classes from './settings.module.css'
import { allEvents, webhooksQuery } from './webhook-queries.ts'
import { RemoveDialog, SwitchedOff, WebhookState } from './webhook-state.tsx'

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
  const { create } = useSearch({ from: '/p/$project/settings/webhooks' })
  const navigate = useNavigate({ from: '/p/$project/settings/webhooks' })
  const [rotating, setRotating] = useState<WebhookRecord | null>(null)
  const [removing, setRemoving] = useState<WebhookRecord | null>(null)
  const show = (search: { create?: 'webhook' }) =>
    // Ignores the blocker: the dialog of a new secret blocks all other navigation until it is stored.
    void navigate({ to: '.', search, replace: true, ignoreBlocker: true })
  const open = ({ id }: WebhookRecord) =>
    void navigate({ to: '/p/$project/settings/webhooks/$webhook', params: { project, webhook: id } })
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
          columns={columnsOf(project, { open, rotate: setRotating, remove: setRemoving })}
          rows={data?.data}
          rowKey={({ id }) => id}
          onOpen={open}
          renderBelow={(row) => (row.enabled ? null : <SwitchedOff row={row} />)}
          expectedRows={3}
          empty={empty}
        />
      )}
      <NewWebhookDialog opened={create === 'webhook'} onClose={() => show({})} />
      <RotateDialog webhook={rotating} onClose={() => setRotating(null)} />
      <RemoveDialog removing={removing} onClose={() => setRemoving(null)} />
    </>
  )
}

function columnsOf(project: string, actions: Actions): Column<WebhookRecord>[] {
  return [
    {
      key: 'url',
      header: 'URL',
      render: (row) => (
        <span className={classes.keyName}>
          <PageLink
            to="/p/$project/settings/webhooks/$webhook"
            params={{ project, webhook: row.id }}
            className="cb-truncate"
          >
            <Mono>{row.url}</Mono>
          </PageLink>
          <WebhookState row={row} />
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

function Events({ row }: { row: WebhookRecord }) {
  if (row.events.length === allEvents.length) return <span className="cb-dimmed">All</span>
  return (
    <span title={row.events.join('\n')} className="cb-figure">
      {row.events.length} of {allEvents.length}
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
          Open deliveries
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
