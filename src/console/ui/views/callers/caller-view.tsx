import { Box, Button, Skeleton, Stack } from '@mantine/core'
import { IconDownload, IconEraser, IconPhone } from '@tabler/icons-react'
import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { lazy, Suspense, useState } from 'react'
import type { CallerRecord } from '../../../../calls/keeping/callers.ts'
import type { CallRow } from '../../../../calls/reading/call-rows.ts'
import { setUpOf } from '../../../../sources/catalog.ts'
import type { SourceRecord } from '../../../../sources/sources.ts'
import { pathOf, read, readPages } from '../../api.ts'
import { useConfirm } from '../../components/dialogs.tsx'
import { Empty } from '../../components/empty.tsx'
import { counted } from '../../components/figures.ts'
import { TextButton } from '../../components/icon-button.tsx'
import { Instant } from '../../components/instant.tsx'
import { PageLink } from '../../components/links.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { Panel } from '../../components/panel.tsx'
import { Problem } from '../../components/problem.tsx'
import { PagedTable } from '../../components/table.tsx'
import { to } from '../../components/to.ts'
import { useDates } from '../../components/use-dates.ts'
import { useProject, useRefusal } from '../../session.ts'
import {
  CallSummary,
  Duration,
  Evaluation,
  LiveBadge,
  Numbers,
  RunningDuration,
} from '../calls/call-line.tsx'
import { CallerHolds } from '../calls/holds.tsx'

const route = getRouteApi('/p/$project/callers/$caller')
const ReceiptProgress = lazy(async () => ({
  default: (await import('../settings/receipts-view.tsx')).ReceiptProgress,
}))

const callsPerPage = '50'
const files = [
  ['calls.jsonl', 'JSON lines'],
  ['calls.csv', 'CSV'],
] as const

interface CallerProps {
  caller: CallerRecord
}

/** A person: every call of their number, and what one does with them. */
export function CallerView() {
  const { of } = useProject()
  const { caller: id } = route.useParams()
  const caller = useQuery(read(of.callers({ caller: id })))
  const [erasure, setErasure] = useState<string | null>(null)
  const { data, error, refetch } = caller
  if (error && !data)
    return <Problem error={error} title="The person could not be loaded" onRetry={() => void refetch()} />
  return (
    <>
      <PageHeader
        title={data?.shownNumber ?? 'Person'}
        // A browser keeps the titles of pages in its history.
        tabTitle="Person"
        description={data ? <Summary caller={data} /> : ' '}
      />
      <Box className="cb-beside" __vars={{ '--cb-second': '360px' }}>
        <Box component="section" aria-label="Calls" miw={0}>
          <Calls of={id} isErased={erasure !== null} />
        </Box>
        <Stack component="aside" aria-label="The person’s data" gap="md" miw={0}>
          {data ? (
            <PersonsData caller={data} erasure={erasure} onErase={setErasure} />
          ) : (
            <Skeleton height={240} />
          )}
        </Stack>
      </Box>
    </>
  )
}

function Summary({ caller: { calls, onHold, firstAt, lastAt } }: CallerProps) {
  const dates = useDates()
  if (firstAt === null || lastAt === null) return <>No calls from or to this number.</>
  const isOneDay = dates.dayOf(firstAt) === dates.dayOf(lastAt)
  return (
    <>
      {counted(calls, 'call')} from or to this number, {!isOneDay && <Instant at={firstAt} as="day" />}
      {!isOneDay && ' to '}
      <Instant at={lastAt} as="day" />.{onHold > 0 && ` ${counted(onHold, 'call')} on hold.`}
    </>
  )
}

function Calls({ of: caller, isErased }: { of: string; isErased: boolean }) {
  const { of } = useProject()
  const calls = useInfiniteQuery({
    ...readPages(of.calls, { caller, limit: callsPerPage }),
    // Below the person's, with which they are loaded again.
    queryKey: [...pathOf(of.callers({ caller })), 'calls'],
  })
  return (
    <PagedTable
      label="Calls"
      of={calls}
      what="The calls"
      more="Load older calls"
      rows={calls.data?.pages.flatMap(({ data }) => data)}
      rowKey={({ id }) => id}
      expectedRows={8}
      columns={({ cell, figure }) => [
        cell('When', (row) => <When row={row} />, { width: '136px' }),
        cell('Caller and called', ({ numbers }) => <Numbers of={numbers} />, { width: '240px', from: 800 }),
        figure(
          'Duration',
          ({ status, createdAt, duration }) =>
            status === 'live' ? <RunningDuration since={createdAt} /> : <Duration seconds={duration} />,
          '76px',
          480,
        ),
        cell(
          'Evaluation',
          (row) => (row.status === 'live' ? <LiveBadge /> : <Evaluation value={row.evaluation} />),
          { width: '112px' },
        ),
        cell('Summary', (call) => <CallSummary call={call} />, { from: 640 }),
      ]}
      empty={
        isErased ? (
          <Empty icon={<IconEraser size={24} />} title="All calls are erased">
            Nothing of this number is stored any more.
          </Empty>
        ) : (
          <Empty icon={<IconPhone size={24} />} title="No calls">
            Nothing is stored of exactly this number. Check that it is complete, with its country code.
          </Empty>
        )
      }
    />
  )
}

function When({ row: { id, createdAt, summary, said } }: { row: CallRow }) {
  return (
    <>
      <PageLink {...to.call(id)}>
        <Instant at={createdAt} as="moment" />
      </PageLink>
      <span className="cb-narrow-line" dir="auto">
        {summary ?? (said && `“${said}”`)}
      </span>
    </>
  )
}

interface PersonsDataProps extends CallerProps {
  /** The id of the erasure that was asked for on this page. */
  erasure: string | null
  onErase: (erasure: string) => void
}

/** What is done with the person's data, by those who may. */
function PersonsData({ caller, erasure, onErase }: PersonsDataProps) {
  const { id: project } = useProject()
  const maySeeHolds = useRefusal('change') === null
  const mayManage = useRefusal('manage') === null
  const { id, calls } = caller
  return (
    <>
      <Panel title="Export">
        <div className="cb-stack">
          <p className="cb-dimmed">
            {calls === 0
              ? 'There are no calls to export.'
              : 'All calls from and to this number, as a file to hand over.'}
          </p>
          {calls > 0 && (
            <div className="cb-row">
              {files.map(([file, label]) => (
                <Button
                  key={file}
                  component="a"
                  variant="default"
                  leftSection={<IconDownload size={16} />}
                  href={`/console/api/projects/${project}/exports/${file}?caller=${id}`}
                  download
                >
                  {label}
                </Button>
              ))}
            </div>
          )}
        </div>
      </Panel>
      {maySeeHolds && <CallerHolds caller={caller} />}
      {mayManage && <Erasure caller={caller} erasure={erasure} onErase={onErase} />}
    </>
  )
}

/** Erases the person's calls for good, and follows that until the last byte is gone. */
function Erasure({ caller, erasure, onErase }: PersonsDataProps) {
  const { of } = useProject()
  const { id, number, calls, onHold } = caller
  const ask = useConfirm()
  const queryClient = useQueryClient()
  const person = read(of.callers({ caller: id }))
  const sources = read(of.sources)
  const erase = async () => {
    // Calls may have come and holds may have been set since the page was loaded.
    await Promise.all([
      queryClient.refetchQueries(person),
      queryClient.prefetchQuery({ ...sources, staleTime: 0 }),
    ])
    const now = queryClient.getQueryData(person.queryKey) ?? caller
    const left = now.calls - now.onHold
    ask({
      title: `Erase ${counted(left, 'call')}?`,
      word: String(left),
      verb: 'Erase for good',
      text: `This deletes every call from or to this number, with its transcript and details. This cannot be undone. Copies in backups, on your voice platform and in recordings elsewhere are not deleted.${stillThere(queryClient.getQueryData(sources.queryKey)?.data)}${exceptHeld(now.onHold)}`,
      send: () => of.erasures.post({ number }),
      changes: of.erasures,
      done: (accepted) => 'id' in accepted && onErase(accepted.id),
    })
  }
  const refresh = () => void queryClient.invalidateQueries({ queryKey: pathOf(of.callers({ caller: id })) })
  const left = calls - onHold
  return (
    <Panel title="Erase" aside={<PageLink {...to.receipts}>Receipts</PageLink>}>
      <div className="cb-stack">
        {erasure ? (
          <Suspense>
            <ReceiptProgress id={erasure} onDone={refresh} />
          </Suspense>
        ) : (
          <p className="cb-dimmed">
            {left === 0
              ? 'No calls from or to this number can be erased.'
              : 'Deletes the calls for good and erases them from the service’s files. Later calls are not affected.'}
            {exceptHeld(onHold)}
          </p>
        )}
        {!erasure && left > 0 && (
          <TextButton label={`Erase ${counted(left, 'call')}`} color="red" onClick={() => void erase()} />
        )}
      </div>
    </Panel>
  )
}

/** Of calls that were never here the ids are not known, so nothing keeps those from coming. */
function stillThere(sources: readonly SourceRecord[] = []): string {
  const asked = sources.filter(({ platform, hasApiKey }) => hasApiKey && !setUpOf(platform).hasNoHistory)
  const labels = [...new Set(asked.map(({ platform }) => setUpOf(platform).label))]
  if (labels.length === 0) return ''
  return ` ${labels.join(' and ')} may have calls of this person that were never in Callbook. An import or a poll would bring them, so delete them there first.`
}

function exceptHeld(onHold: number): string {
  return onHold > 0 ? ` ${counted(onHold, 'call')} on hold will not be erased.` : ''
}
