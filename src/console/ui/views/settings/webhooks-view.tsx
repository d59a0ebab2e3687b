import { IconList, IconPlus, IconRefresh, IconTrash, IconWebhook } from '@tabler/icons-react'
import { useNavigate } from '@tanstack/react-router'
import type { WebhookRecord } from '../../../../webhooks/webhooks.ts'
import { Mono } from '../../components/code.tsx'
import { useLinkToCreate } from '../../components/dialogs.tsx'
import { Empty } from '../../components/empty.tsx'
import { asCount } from '../../components/figures.ts'
import { TextButton } from '../../components/icon-button.tsx'
import { PageLink } from '../../components/links.tsx'
import { Page } from '../../components/page.tsx'
import { RowMenu } from '../../components/row-menu.tsx'
import { QueryTable } from '../../components/table.tsx'
import { to } from '../../components/to.ts'
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
  const rotate = useRotate()
  const remove = useDeleteWebhook()
  useLinkToCreate('webhook', create)
  const open = ({ id }: WebhookRecord) => void navigate(to.webhook(id))
  const createButton = <TextButton icon={IconPlus} label="Create webhook" onClick={create} />
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
        columns={({ cell, end, figure, when }) => [
          cell('URL', (row) => (
            <span className={classes.keyName}>
              <PageLink {...to.webhook(row.id)} className="cb-truncate">
                <Mono>{row.url}</Mono>
              </PageLink>
              <WebhookState row={row} />
            </span>
          )),
          cell('Events', (row) => <Events row={row} />, { width: '112px', from: 640 }),
          figure('Waiting', ({ pending }) => asCount(pending), '80px', 480),
          when('Last success', ({ lastSuccessAt }) => lastSuccessAt, { width: '120px', from: 640 }),
          end('Actions', (row) => (
            <RowMenu
              name={row.url}
              items={[
                { icon: IconList, label: 'Open deliveries', act: () => open(row) },
                { icon: IconRefresh, label: 'Rotate secret', act: () => rotate(row) },
                { icon: IconTrash, label: 'Delete', act: () => remove(row), isDanger: true },
              ]}
            />
          )),
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
