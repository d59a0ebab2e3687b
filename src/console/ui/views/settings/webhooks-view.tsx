import { ActionIcon, Button, Menu } from '@mantine/core'
import { IconDots, IconList, IconPlus, IconRefresh, IconTrash, IconWebhook } from '@tabler/icons-react'
import { useNavigate } from '@tanstack/react-router'
import type { WebhookRecord } from '../../../../webhooks/webhooks.ts'
import { Mono } from '../../components/code.tsx'
import { useLinkToCreate } from '../../components/dialogs.tsx'
import { Empty } from '../../components/empty.tsx'
import { asCount } from '../../components/figures.ts'
import { PageLink } from '../../components/links.tsx'
import { Page } from '../../components/page.tsx'
import { QueryTable } from '../../components/table.tsx'
import { to } from '../../components/to.ts'
import { focusedOrMenu } from '../../components/use-focus.ts'
import classes from './settings.module.css'
import {
  allEvents,
  SwitchedOff,
  useDeleteWebhook,
  useNewWebhook,
  useRotate,
  useWebhooks,
  WebhookState,
} from './webhooks.tsx'

/** The project's webhooks: list, create, rotate, send again, switch on, remove. */
export function WebhooksView() {
  const webhooks = useWebhooks()
  const navigate = useNavigate({ from: '/p/$project/settings/webhooks' })
  const create = useNewWebhook()
  useLinkToCreate('webhook', create)
  const open = ({ id }: WebhookRecord) => void navigate(to.webhook(id))
  const createButton = (
    <Button leftSection={<IconPlus size={16} />} onClick={create}>
      Create webhook
    </Button>
  )
  return (
    <Page
      title="Webhooks"
      description="Endpoints that Callbook notifies when this project’s calls and knowledge change."
      action={createButton}
    >
      <QueryTable
        label="Webhooks"
        of={webhooks}
        what="The webhooks"
        rows={webhooks.data?.data}
        rowKey={({ id }) => id}
        onOpen={open}
        renderBelow={(row) => (row.enabled ? null : <SwitchedOff row={row} />)}
        expectedRows={3}
        columns={({ cell, when }) => [
          cell('URL', (row) => (
            <span className={classes.keyName}>
              <PageLink {...to.webhook(row.id)} className="cb-truncate">
                <Mono>{row.url}</Mono>
              </PageLink>
              <WebhookState row={row} />
            </span>
          )),
          cell('Events', (row) => <Events row={row} />, { width: '112px', from: 640 }),
          cell(
            'Waiting',
            ({ pending }) => (
              <span className={pending === 0 ? 'cb-figure cb-dimmed' : 'cb-figure'}>{asCount(pending)}</span>
            ),
            { width: '80px', align: 'right', from: 480 },
          ),
          when('Last success', ({ lastSuccessAt }) => lastSuccessAt, { width: '120px', from: 640 }),
          {
            key: 'actions',
            header: <span className="cb-hidden">Actions</span>,
            width: '48px',
            align: 'right',
            render: (row) => <RowMenu row={row} onOpen={open} />,
          },
        ]}
        empty={
          <Empty icon={<IconWebhook size={24} />} title="No webhooks yet" action={createButton}>
            A webhook tells your own program when a call starts, changes or is completed, and when knowledge
            changes. Each event is a signed request with the record.
          </Empty>
        }
      />
    </Page>
  )
}

function Events({ row }: { row: WebhookRecord }) {
  if (row.events.length === allEvents.length) return <span className="cb-dimmed">All</span>
  return (
    <span title={row.events.join('\n')} className="cb-figure">
      {row.events.length} of {allEvents.length}
    </span>
  )
}

function RowMenu({ row, onOpen }: { row: WebhookRecord; onOpen: (row: WebhookRecord) => void }) {
  const rotate = useRotate()
  const remove = useDeleteWebhook()
  // The dialog gives the focus back to what had it.
  const from = (act: (row: WebhookRecord) => void) => () => {
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
        <Menu.Item leftSection={<IconList size={16} />} onClick={from(onOpen)}>
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
