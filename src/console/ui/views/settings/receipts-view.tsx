import { Stack } from '@mantine/core'
import { IconCheck, IconPrinter, IconReceipt } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useEffect, useEffectEvent } from 'react'
import type { ErasureReceipt } from '../../../../privacy/schemas.ts'
import { read } from '../../api.ts'
import { Mono } from '../../components/code.tsx'
import { Empty } from '../../components/empty.tsx'
import { asCount, counted } from '../../components/figures.ts'
import { TextButton } from '../../components/icon-button.tsx'
import { Instant } from '../../components/instant.tsx'
import { PageLink } from '../../components/links.tsx'
import { Facts, Loaded, Page } from '../../components/page.tsx'
import { Panel } from '../../components/panel.tsx'
import { Problem } from '../../components/problem.tsx'
import { Pulse, StatusBadge } from '../../components/status-badge.tsx'
import { QueryTable } from '../../components/table.tsx'
import { to } from '../../components/to.ts'
import { useDates } from '../../components/use-dates.ts'
import { useProject } from '../../session.ts'

const route = getRouteApi('/p/$project/settings/privacy/receipts/$receipt')
const pollMs = 1_000
const listPollMs = 5_000

/** What was erased on request, newest first. */
export function ReceiptsView() {
  const { of } = useProject()
  const navigate = useNavigate()
  const receipts = useQuery({
    ...read(of.erasures),
    refetchInterval: ({ state }) =>
      state.data?.data.some(({ status }) => status === 'pending') ? listPollMs : false,
  })
  return (
    <Page title="Erasure receipts" description={<PageLink {...to.privacy}>Privacy</PageLink>}>
      <QueryTable
        label="Erasure receipts"
        of={receipts}
        what="The receipts"
        rows={receipts.data?.data}
        rowKey={({ id }) => id}
        onOpen={({ id }) => void navigate(to.receipt(id))}
        expectedRows={4}
        columns={({ cell, figure, when }) => [
          cell('Receipt', ({ id, requestedAt }) => (
            <>
              <PageLink {...to.receipt(id)} className="cb-truncate">
                <Mono>{id}</Mono>
              </PageLink>
              <span className="cb-narrow-line">
                Requested <Instant at={requestedAt} as="absolute" />
              </span>
            </>
          )),
          cell('State', (row) => <ReceiptState receipt={row} />, { width: '112px' }),
          figure('Calls', ({ calls }) => asCount(calls ?? 0), '88px', 640),
          figure('Erased', ({ deleted }) => asCount(deleted ?? 0), '88px', 480),
          figure('On hold', ({ onHold }) => asCount(onHold ?? 0), '88px', 640),
          when('Requested', ({ requestedAt }) => requestedAt, { as: 'absolute', width: '176px', from: 800 }),
          when('Last byte gone', ({ doneAt }) => doneAt, {
            as: 'absolute',
            none: 'Not yet',
            width: '176px',
            from: 640,
          }),
        ]}
        empty={
          <Empty icon={<IconReceipt size={24} />} title="No receipts yet">
            When you erase a person’s calls, the receipt is kept here. It holds nothing of the person.
          </Empty>
        }
      />
    </Page>
  )
}

/** One receipt, to print and to file. It names nothing of the person. */
export function ReceiptView() {
  const { receipt: id } = route.useParams()
  const { name } = useProject()
  const dates = useDates()
  const receipt = useReceipt(id)
  return (
    <Page
      title="Erasure receipt"
      description={
        <PageLink {...to.receipts} className="cb-screen">
          All receipts
        </PageLink>
      }
      action={
        <TextButton icon={IconPrinter} label="Print" onClick={() => print()} disabled={!receipt.data} />
      }
    >
      <Loaded query={receipt} what="The receipt">
        {(data) => (
          <Stack gap="lg" maw={720}>
            <Panel title="Calls of a person" aside={<ReceiptState receipt={data} />}>
              <div className="cb-stack">
                <Facts
                  of={{
                    Receipt: <Mono>{data.id}</Mono>,
                    Project: name,
                    Requested: dates.exact(data.requestedAt),
                    'Last byte gone': data.doneAt ? dates.exact(data.doneAt) : 'Not yet',
                    'Calls to erase': asCount(data.calls ?? 0),
                    'Calls erased': asCount(data.deleted ?? 0),
                    'Calls kept on hold': asCount(data.onHold ?? 0),
                  }}
                />
                <p className="cb-dimmed">
                  {data.doneAt
                    ? 'Each of these calls was deleted with its transcript, details and recording, and no byte of them is left in the service’s files. '
                    : 'The calls are deleted, and their bytes are being erased from the service’s files. '}
                  The receipt holds neither the number nor anything else of the person. Copies in backups and
                  on voice platforms are not part of it.
                </p>
              </div>
            </Panel>
            <PageLink {...to.audit} search={{ action: 'erasure_requested' }} className="cb-screen">
              Who asked for it: audit trail
            </PageLink>
          </Stack>
        )}
      </Loaded>
    </Page>
  )
}

/** How far an erasure is, and its receipt once no byte is left. */
export function ReceiptProgress({ id, onDone }: { id: string; onDone: () => void }) {
  const { data, error } = useReceipt(id)
  const isDone = data?.status === 'done'
  const done = useEffectEvent(onDone)
  useEffect(() => {
    if (isDone) done()
  }, [isDone])
  if (error) return <Problem error={error} title="The receipt could not be loaded" />
  if (!data) return null
  const { calls = 0, deleted = 0, onHold = 0, doneAt } = data
  return (
    <div className="cb-stack" role="status">
      {doneAt === null ? (
        <>
          <p>
            Deleted {deleted} of {counted(calls, 'call')}. Their bytes are erased next. You can leave this
            page.
          </p>
          <progress
            style={{ width: '100%' }}
            value={calls ? deleted : 1}
            max={calls || 1}
            aria-label="Deleted calls"
          />
        </>
      ) : (
        <p>
          Erased {counted(deleted, 'call')}. The last byte was gone on <Instant at={doneAt} as="absolute" />.
          {onHold > 0 && ` ${counted(onHold, 'call')} on hold not erased.`}
        </p>
      )}
      <PageLink {...to.receipt(id)}>Open the receipt</PageLink>
    </div>
  )
}

/** One receipt, asked for again until no byte is left. */
function useReceipt(id: string) {
  return useQuery({
    ...read(useProject().of.erasures({ id })),
    refetchInterval: ({ state }) => (state.data?.status === 'done' ? false : pollMs),
  })
}

function ReceiptState({ receipt: { status } }: { receipt: Pick<ErasureReceipt, 'status'> }) {
  return status === 'done' ? (
    <StatusBadge tone="success" icon={IconCheck} label="Erased" />
  ) : (
    <StatusBadge tone="accent" icon={Pulse} label="Erasing" />
  )
}
