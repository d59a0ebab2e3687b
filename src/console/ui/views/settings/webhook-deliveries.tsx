import { SegmentedControl } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import { IconSend } from '@tabler/icons-react'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import type { WebhookAttempt } from '../../../../webhooks/deliveries.ts'
import type { WebhookRecord } from '../../../../webhooks/webhooks.ts'
import { Empty } from '../../components/empty.tsx'
import { asBytes } from '../../components/figures.ts'
import { Instant } from '../../components/instant.tsx'
import { Mono } from '../../components/mono.tsx'
import { Problem } from '../../components/problem.tsx'
import { StatusBadge } from '../../components/status-badge.tsx'
import { QueryTable, type TableProps } from '../../components/table.tsx'
import classes from './settings.module.css'
import messageClasses from './webhook-message.module.css'
import { WebhookMessageDetails } from './webhook-message.tsx'
import { useAttempts, useMessage } from './webhook-queries.ts'
import { AttemptStatus } from './webhook-state.tsx'

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
  const kept = which ? { show: which } : {}
  const close = () => show(kept)
  const hasRoom = useMediaQuery('(min-width: 1024px)', undefined, { getInitialValueInEffect: false })
  const details = open && (
    <WebhookMessageDetails
      key={open.messageId}
      webhook={id}
      attempt={open}
      mayResend={enabled}
      onClose={close}
    />
  )
  const isListed = open !== undefined && listed?.includes(open)
  return (
    <section className={classes.section}>
      <div className={classes.sectionHead}>
        <h2>Deliveries</h2>
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
      </div>
      {older.error && !open && <Problem error={older.error} title="The delivery could not be loaded" />}
      <div className={messageClasses.deliveries} data-open={(open && hasRoom) || undefined}>
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
            show({ ...kept, message: row.messageId })
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
          <aside aria-label="Delivery" className={messageClasses.open}>
            {details}
          </aside>
        )}
        {!hasRoom && !isListed && details}
      </div>
    </section>
  )
}

const keyOf = ({ messageId, attempt }: WebhookAttempt) => `${messageId} ${attempt}`

const columnsOf: TableProps<WebhookAttempt>['columns'] = ({ cell }) => [
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
        {isTest && <StatusBadge tone="neutral">Test</StatusBadge>}
      </span>
    ),
    { width: '32%', from: 640 },
  ),
  cell('Attempt', ({ attempt }) => figure(attempt), { width: '72px', align: 'right', from: 480 }),
  cell('Time', ({ durationMs }) => figure(`${durationMs} ms`), { width: '88px', align: 'right', from: 640 }),
  cell('Size', ({ bytes }) => figure(asBytes(bytes)), { width: '80px', align: 'right', from: 800 }),
  cell('Sent', ({ at }) => <Instant at={at} as="second" />, { width: '168px', from: 640 }),
]

const figure = (words: ReactNode) => <span className="cb-figure">{words}</span>
