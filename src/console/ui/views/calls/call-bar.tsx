import { ActionIcon } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import {
  IconArrowLeft,
  IconArrowsDiagonal,
  IconArrowsDiagonalMinimize2,
  IconChevronDown,
  IconChevronUp,
  IconLayoutSidebarRight,
  IconTrash,
  IconX,
} from '@tabler/icons-react'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { lazy } from 'react'
import type { Call, CallDetails } from '../../../../calls/schemas.ts'
import { api, unwrap } from '../../api.ts'
import { Guarded } from '../../components/guarded.tsx'
import { Mono } from '../../components/mono.tsx'
import { useFormatNumber } from '../../components/phone-number.ts'
import { ButtonWithPopup } from '../../components/popup.tsx'
import { useDates } from '../../components/use-dates.ts'
import { useProject, useRefusal } from '../../session.ts'
import classes from './call.module.css'
import { forgetCall } from './call-queries.ts'
import { callTitle } from './call-title.ts'
import { readFilters } from './chosen-filters.ts'
import { LiveBadge } from './evaluation.tsx'
import { HoldButton, useHolds } from './holds.tsx'
import { useOpenCalls } from './open-calls.ts'
import { useKeys } from './use-keys.ts'
import type { Rail } from './use-rail.ts'

const loadDialog = () => import('../../components/confirm-dialog.tsx')
const ConfirmDialog = lazy(async () => ({ default: (await loadDialog()).ConfirmDialog }))

interface CallBarProps {
  id: string
  /** Undefined while it is loading. */
  call: Call | undefined
  direction: CallDetails['direction'] | undefined
  rail: Rail
  isPage: boolean
}

/** The title of a call, and its actions. */
export function CallBar({ id, call, direction, rail, isPage }: CallBarProps) {
  const { openNext, openPrevious, close } = useOpenCalls()
  const dates = useDates()
  const formatNumber = useFormatNumber()
  return (
    <header className={classes.bar}>
      <span className={classes.back}>
        <ActionIcon variant="subtle" color="gray" size={32} aria-label="Back to calls" onClick={close}>
          <IconArrowLeft size={18} />
        </ActionIcon>
      </span>
      {isPage && <h1 className="cb-hidden">Call</h1>}
      <h2 className={classes.title}>
        {call ? (
          <>
            <span className="cb-figure cb-truncate">{callTitle(call, direction, formatNumber)}</span>
            <time dateTime={call.createdAt} title={dates.exact(call.createdAt)} className="cb-figure">
              {dates.moment(call.createdAt)}
            </time>
          </>
        ) : (
          <span className="cb-hidden">Call</span>
        )}
      </h2>
      {call?.status === 'live' && <LiveBadge />}
      <span className={classes.actions}>
        <StepButton
          label="Previous call"
          keys="k"
          onClick={openPrevious}
          icon={<IconChevronUp size={16} />}
        />
        <StepButton label="Next call" keys="j" onClick={openNext} icon={<IconChevronDown size={16} />} />
        <PageButton isPage={isPage} />
        {call && rail.isWide && (
          <ActionIcon
            data-hint={`${rail.isOpen ? 'Hide' : 'Show'} the facts (i)`}
            variant={rail.isOpen ? 'light' : 'subtle'}
            color="gray"
            size={28}
            aria-label="Facts"
            aria-expanded={rail.isOpen}
            onClick={rail.toggle}
          >
            <IconLayoutSidebarRight size={16} />
          </ActionIcon>
        )}
        {call && <HoldButton id={id} />}
        {call && <DeleteCall id={id} />}
        <span className={classes.close}>
          <ActionIcon
            data-hint="Close (Esc)"
            variant="subtle"
            color="gray"
            size={28}
            aria-label="Close call"
            onClick={close}
          >
            <IconX size={16} />
          </ActionIcon>
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
    <ActionIcon
      data-hint={`${label} (${keys})`}
      variant="subtle"
      color="gray"
      size={28}
      aria-label={label}
      disabled={onClick === null}
      onClick={() => onClick?.()}
    >
      {icon}
    </ActionIcon>
  )
}

/** The call as a page of its own, and back. */
function PageButton({ isPage }: { isPage: boolean }) {
  const navigate = useNavigate()
  const toggle = () => {
    void navigate({
      to: '.',
      search: (search) => ({ ...search, view: isPage ? undefined : 'page' }),
      hash: true,
      hashScrollIntoView: false,
      resetScroll: false,
      replace: true,
    })
  }
  useKeys({ f: toggle })
  const label = isPage ? 'Show beside the list' : 'Show as a page'
  return (
    <span className={classes.pageButton}>
      <ActionIcon
        data-hint={`${label} (f)`}
        variant="subtle"
        color="gray"
        size={28}
        aria-label={label}
        onClick={toggle}
      >
        {isPage ? <IconArrowsDiagonalMinimize2 size={16} /> : <IconArrowsDiagonal size={16} />}
      </ActionIcon>
    </span>
  )
}

/** Nothing for a call on hold, which cannot be deleted. */
function DeleteCall({ id }: { id: string }) {
  const project = useProject()
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const filters = readFilters(useSearch({ from: '/p/$project/calls' }))
  const refusal = useRefusal('delete')
  const isHeld = useHolds(id).length > 0
  const remove = async () => {
    await unwrap(api.projects({ project: project.id }).calls({ id }).delete())
    // Leaves the call first, so that it is not requested again.
    await navigate({
      to: '/p/$project/calls',
      params: { project: project.id },
      search: filters,
      replace: true,
      resetScroll: false,
    })
    forgetCall(queryClient, project.id, id)
    notifications.show({ message: 'Call deleted' })
  }
  const button = (
    <ActionIcon
      data-hint="Delete call"
      variant="subtle"
      color="gray"
      size={28}
      aria-label="Delete call"
      // Its dialog may be open when somebody sets a hold, and then says so.
      display={isHeld ? 'none' : undefined}
    >
      <IconTrash size={16} />
    </ActionIcon>
  )
  if (refusal !== null) return <Guarded right="delete">{button}</Guarded>
  return (
    <ButtonWithPopup kind="dialog" load={loadDialog} button={button}>
      {({ opened, onChange, target }) => (
        <>
          {target}
          <ConfirmDialog
            opened={opened}
            onClose={() => onChange(false)}
            title="Delete this call?"
            confirmLabel="Delete call"
            onConfirm={remove}
          >
            <p>
              This deletes call <Mono>{id}</Mono> for good, with its transcript, summary, analysis and
              details. This cannot be undone, and the ID cannot be used again.
            </p>
          </ConfirmDialog>
        </>
      )}
    </ButtonWithPopup>
  )
}
