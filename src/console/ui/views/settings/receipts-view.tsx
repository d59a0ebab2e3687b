import { IconCheck, IconReceipt } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import type { ErasureReceipt } from '../../../../privacy/schemas.ts'
import { Empty } from '../../components/empty.tsx'
import { asCount } from '../../components/figures.ts'
import { Instant } from '../../components/instant.tsx'
import { PageLink } from '../../components/links.tsx'
import { type Column, ListTable } from '../../components/list-table.tsx'
import { Mono } from '../../components/mono.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { Problem } from '../../components/problem.tsx'
import { StatusBadge } from '../../components/status-badge.tsx'
import { useProject } from '../../session.ts'
import { receiptsQuery } from './receipt-queries.ts'

/** What was erased on request, newest first. */
export function ReceiptsView() {
  const { id: project } = useProject()
  const navigate = useNavigate()
  const { data, error, refetch } = useQuery(receiptsQuery(project))
  return (
    <>
      <PageHeader
        title="Erasure receipts"
        description={
          <PageLink to="/p/$project/settings/privacy" params={{ project }}>
            Privacy
          </PageLink>
        }
      />
      {error && !data ? (
        <Problem error={error} title="The receipts could not be loaded" onRetry={() => void refetch()} />
      ) : (
        <ListTable
          label="Erasure receipts"
          columns={columnsOf(project)}
          rows={data?.data}
          rowKey={({ id }) => id}
          onOpen={({ id }) =>
            void navigate({
              to: '/p/$project/settings/privacy/receipts/$receipt',
              params: { project, receipt: id },
            })
          }
          expectedRows={4}
          empty={
            <Empty icon={<IconReceipt size={24} />} title="No receipts yet">
              When you erase a person’s calls, the receipt is kept here. It holds nothing of the person.
            </Empty>
          }
        />
      )}
    </>
  )
}

function columnsOf(project: string): Column<ErasureReceipt>[] {
  const figure = (key: 'calls' | 'deleted' | 'onHold', header: string): Column<ErasureReceipt> => ({
    key,
    header,
    width: '88px',
    align: 'right',
    from: key === 'deleted' ? 480 : 640,
    render: (row) => <span className="cb-figure">{asCount(row[key] ?? 0)}</span>,
  })
  return [
    {
      key: 'id',
      header: 'Receipt',
      render: ({ id, requestedAt }) => (
        <>
          <PageLink
            to="/p/$project/settings/privacy/receipts/$receipt"
            params={{ project, receipt: id }}
            className="cb-truncate"
          >
            <Mono>{id}</Mono>
          </PageLink>
          <span className="cb-narrow-line">
            Requested <Instant at={requestedAt} as="absolute" />
          </span>
        </>
      ),
    },
    { key: 'state', header: 'State', width: '112px', render: (row) => <ReceiptState receipt={row} /> },
    figure('calls', 'Calls'),
    figure('deleted', 'Erased'),
    figure('onHold', 'On hold'),
    {
      key: 'requested',
      header: 'Requested',
      width: '176px',
      from: 800,
      render: ({ requestedAt }) => <Instant at={requestedAt} as="absolute" />,
    },
    {
      key: 'done',
      header: 'Last byte gone',
      width: '176px',
      from: 640,
      render: ({ doneAt }) =>
        doneAt ? <Instant at={doneAt} as="absolute" /> : <span className="cb-dimmed">Not yet</span>,
    },
  ]
}

export function ReceiptState({ receipt: { status } }: { receipt: Pick<ErasureReceipt, 'status'> }) {
  return status === 'done' ? (
    <StatusBadge tone="success" icon={<IconCheck size={12} />}>
      Erased
    </StatusBadge>
  ) : (
    <StatusBadge tone="accent" icon={<span className="cb-pulse" />}>
      Erasing
    </StatusBadge>
  )
}
