import { ActionIcon, Button, Skeleton, Tabs, Tooltip } from '@mantine/core'
import { useDocumentTitle } from '@mantine/hooks'
import { notifications } from '@mantine/notifications'
import { IconArrowLeft, IconChevronDown, IconChevronUp, IconTrash, IconX } from '@tabler/icons-react'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import type { Call, CallDetails } from '../../../../calls/schemas.ts'
import { ApiProblem, api, unwrap } from '../../api.ts'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { CopyButton } from '../../components/copy-button.tsx'
import { Empty } from '../../components/empty.tsx'
import { counted } from '../../components/figures.ts'
import { Guarded } from '../../components/guarded.tsx'
import { Mono } from '../../components/mono.tsx'
import { Problem } from '../../components/problem.tsx'
import { useProject } from '../../session.ts'
import { Analysis } from './analysis.tsx'
import { CallFacts, factNames } from './call-facts.tsx'
import { callDetailsQuery, callQuery, forgetCall } from './call-queries.ts'
import { readFilters } from './chosen-filters.ts'
import { LiveBadge } from './evaluation.tsx'
import { useOpenCalls } from './open-calls.ts'
import { RawCall } from './raw-call.tsx'
import { Transcript } from './transcript.tsx'

/** One call: its transcript, its analysis, its document. */
export function CallView() {
  const { call } = useParams({ from: '/p/$project/calls/$call' })
  // Another call is another panel: at its top, with nothing left of the one before.
  return <CallPanel key={call} id={call} />
}

function CallPanel({ id }: { id: string }) {
  const project = useProject()
  const { data: call, error, refetch } = useQuery(callQuery(project.id, id))
  const details = useQuery(callDetailsQuery(project.id, id))
  const [panel, setPanel] = useState<HTMLElement | null>(null)
  useDocumentTitle(`Call ${id} · Callbook`)
  useEffect(() => {
    // Over the list, which is out of sight then, and what was focused in it.
    if (panel && !isShown(document.getElementById('calls-list'))) panel.focus()
  }, [panel])
  return (
    <section ref={setPanel} className="cb-call" aria-label={`Call ${id}`} tabIndex={-1}>
      <CallBar id={id} isLive={call?.status === 'live'} isThere={call !== undefined} />
      {call && (details.data || details.failureCount > 0) ? (
        <>
          {details.isLoadingError && (
            <div className="cb-call-part">
              <Problem
                title="The details of this call could not be loaded"
                error={details.error}
                onRetry={() => void details.refetch()}
              />
            </div>
          )}
          <OpenCall call={call} details={details.data} panel={panel} />
        </>
      ) : error instanceof ApiProblem && error.status === 404 ? (
        <NoSuchCall />
      ) : error ? (
        <div className="cb-call-part">
          <Problem title="The call could not be loaded" error={error} onRetry={() => void refetch()} />
        </div>
      ) : (
        <CallSkeleton />
      )}
    </section>
  )
}

function isShown(element: Element | null): boolean {
  return element?.checkVisibility({ visibilityProperty: true }) ?? false
}

function CallBar({ id, isLive, isThere }: { id: string; isLive: boolean; isThere: boolean }) {
  const { openNext, openPrevious, close } = useOpenCalls()
  return (
    <header className="cb-call-bar">
      <span className="cb-call-back">
        <ActionIcon variant="subtle" color="gray" size={32} aria-label="Back to the calls" onClick={close}>
          <IconArrowLeft size={18} />
        </ActionIcon>
      </span>
      <h2 className="cb-call-id" title={id}>
        <Mono truncate>{id}</Mono>
      </h2>
      <CopyButton value={id} label="Copy call id" />
      {isLive && <LiveBadge />}
      <span className="cb-call-actions">
        <StepButton
          label="Previous call"
          keys="k"
          onClick={openPrevious}
          icon={<IconChevronUp size={16} />}
        />
        <StepButton label="Next call" keys="j" onClick={openNext} icon={<IconChevronDown size={16} />} />
        {isThere && <DeleteCall id={id} />}
        <span className="cb-call-close">
          <Tooltip label="Close (Esc)">
            <ActionIcon variant="subtle" color="gray" size={28} aria-label="Close the call" onClick={close}>
              <IconX size={16} />
            </ActionIcon>
          </Tooltip>
        </span>
      </span>
    </header>
  )
}

interface StepButtonProps {
  label: string
  keys: string
  onClick: (() => void) | null
  icon: React.ReactNode
}

function StepButton({ label, keys, onClick, icon }: StepButtonProps) {
  return (
    <Tooltip label={`${label} (${keys})`}>
      <ActionIcon
        variant="subtle"
        color="gray"
        size={28}
        aria-label={label}
        disabled={onClick === null}
        onClick={() => onClick?.()}
      >
        {icon}
      </ActionIcon>
    </Tooltip>
  )
}

function DeleteCall({ id }: { id: string }) {
  const project = useProject()
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const filters = readFilters(useSearch({ from: '/p/$project/calls' }))
  const [isOpen, setIsOpen] = useState(false)
  const remove = async () => {
    await unwrap(api.projects({ project: project.id }).calls({ id }).delete())
    // First away from the call, so that it is not asked for again.
    await navigate({
      to: '/p/$project/calls',
      params: { project: project.id },
      search: filters,
      replace: true,
      resetScroll: false,
    })
    forgetCall(queryClient, project.id, id)
    notifications.show({ message: 'The call was deleted' })
  }
  return (
    <>
      <Guarded right="delete" label="Delete call">
        <ActionIcon
          variant="subtle"
          color="gray"
          size={28}
          aria-label="Delete call"
          onClick={() => setIsOpen(true)}
        >
          <IconTrash size={16} />
        </ActionIcon>
      </Guarded>
      <ConfirmDialog
        opened={isOpen}
        onClose={() => setIsOpen(false)}
        title="Delete this call?"
        confirmLabel="Delete call"
        onConfirm={remove}
      >
        <p>
          The record of call <Mono>{id}</Mono> goes for good: its transcript, summary, analysis and details,
          here and in the API. It cannot be undone, and the id cannot be used again.
        </p>
      </ConfirmDialog>
    </>
  )
}

const tabs = [
  { value: 'transcript', label: 'Transcript' },
  { value: 'analysis', label: 'Analysis' },
  { value: 'raw', label: 'Raw' },
] as const

interface OpenCallProps {
  call: Call
  /** Undefined when they could not be loaded. */
  details: CallDetails | undefined
  panel: HTMLElement | null
}

function OpenCall({ call, details, panel }: OpenCallProps) {
  const project = useProject()
  const navigate = useNavigate()
  const { tab = 'transcript', ...filters } = useSearch({ from: '/p/$project/calls/$call' })
  const { text } = useOpenCalls()
  const show = (value: string | null) => {
    const next = value === 'analysis' || value === 'raw' ? value : undefined
    void navigate({
      to: '/p/$project/calls/$call',
      params: { project: project.id, call: call.id },
      search: { ...filters, tab: next },
      replace: true,
      resetScroll: false,
    })
  }
  return (
    <>
      <div className="cb-call-part">
        <CallFacts call={call} details={details} />
      </div>
      <Tabs value={tab} onChange={show} keepMounted={false} classNames={{ list: 'cb-call-tabs' }}>
        <Tabs.List>
          {tabs.map(({ value, label }) => (
            <Tabs.Tab key={value} value={value}>
              {label}
              {value === 'transcript' && call.transcript.length > 0 && (
                <span className="cb-call-turns" title={counted(call.transcript.length, 'turn')}>
                  {call.transcript.length.toLocaleString()}
                </span>
              )}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value="transcript">
          <Transcript call={call} timeline={details?.timeline} panel={panel} searchedFor={text ?? ''} />
        </Tabs.Panel>
        <Tabs.Panel value="analysis" className="cb-call-part">
          <Analysis analysis={call.callAnalysis} />
        </Tabs.Panel>
        <Tabs.Panel value="raw" className="cb-call-part">
          <RawCall call={call} />
        </Tabs.Panel>
      </Tabs>
    </>
  )
}

function NoSuchCall() {
  const { close } = useOpenCalls()
  return (
    <Empty
      title="There is no such call"
      action={
        <Button variant="default" onClick={close}>
          Close
        </Button>
      }
    >
      It was deleted, or its id is another one, or it belongs to another project.
    </Empty>
  )
}

function CallSkeleton() {
  return (
    <div aria-busy="true" role="status" aria-label="Loading the call">
      <div className="cb-call-part">
        <div className="cb-call-facts">
          {factNames.map((name) => (
            <div key={name} className="cb-call-fact">
              <Skeleton height={10} width={56} />
              <Skeleton height={10} width={112} />
            </div>
          ))}
        </div>
      </div>
      <div className="cb-call-loading">
        <Skeleton height={12} width={240} />
        {[72, 48, 64, 40, 60].map((width, at) => (
          <Skeleton
            key={width}
            height={44}
            width={`${width}%`}
            mb={16}
            ml={at % 2 === 0 ? 'auto' : 0}
            radius={10}
          />
        ))}
      </div>
    </div>
  )
}
