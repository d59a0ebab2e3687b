import { ActionIcon, Group } from '@mantine/core'
import {
  IconArrowLeft,
  IconArrowsDiagonal,
  IconArrowsDiagonalMinimize2,
  IconChevronDown,
  IconChevronUp,
  IconDots,
  IconLayoutSidebarRight,
  IconX,
} from '@tabler/icons-react'
import { useNavigate } from '@tanstack/react-router'
import { lazy } from 'react'
import type { Call } from '../../../../calls/schemas.ts'
import type { ShownDetails } from '../../../call-routes.ts'
import { useKeys } from '../../components/events.ts'
import { IconButton } from '../../components/icon-button.tsx'
import { ButtonWithPopup } from '../../components/popup.tsx'
import { useDates } from '../../components/use-dates.ts'
import classes from './call.module.css'
import { LiveBadge } from './call-line.tsx'
import type { Rail } from './call-page.ts'
import { callTitle } from './conversation.ts'
import { useOpenCalls } from './open-calls.ts'

const loadPopups = () => import('./call-popups.tsx')
const CallMenu = lazy(async () => ({ default: (await loadPopups()).CallMenu }))
const nothing = () => undefined

interface CallBarProps {
  /** Undefined while it is loading. */
  call: Call | undefined
  details: ShownDetails | undefined
  rail: Rail
  isPage: boolean
}

/** The title of a call, and its actions. */
export function CallBar({ call, details, rail, isPage }: CallBarProps) {
  const { openNext, openPrevious, close } = useOpenCalls()
  const dates = useDates()
  return (
    <header className={classes.bar}>
      <span className={classes.back}>
        <IconButton icon={IconArrowLeft} label="Back to calls" size={32} onClick={close} />
      </span>
      {isPage && <h1 className="cb-hidden">Call</h1>}
      <h2 className={classes.title}>
        {call ? (
          <>
            <span className="cb-figure cb-truncate">
              {callTitle(details?.numbers ?? call, details?.direction)}
            </span>
            <time dateTime={call.createdAt} title={dates.exact(call.createdAt)} className="cb-figure">
              {dates.moment(call.createdAt)}
            </time>
          </>
        ) : (
          <span className="cb-hidden">Call</span>
        )}
      </h2>
      {call?.status === 'live' && <LiveBadge />}
      <Group component="span" gap={2} ml="auto" wrap="nowrap" className={classes.actions}>
        <IconButton
          icon={IconChevronUp}
          label="Previous call"
          hint="Previous call (k)"
          isDisabled={openPrevious === null}
          onClick={openPrevious ?? nothing}
        />
        <IconButton
          icon={IconChevronDown}
          label="Next call"
          hint="Next call (j)"
          isDisabled={openNext === null}
          onClick={openNext ?? nothing}
        />
        <PageButton isPage={isPage} />
        {call && rail.isWide && (
          <IconButton
            icon={IconLayoutSidebarRight}
            label="Facts"
            hint={`${rail.isOpen ? 'Hide' : 'Show'} the facts (i)`}
            isPressed={rail.isOpen}
            onClick={rail.toggle}
          />
        )}
        {call && (
          <ButtonWithPopup
            kind="menu"
            load={loadPopups}
            button={
              <ActionIcon
                variant="subtle"
                color="gray"
                size={28}
                aria-label="More for this call"
                data-hint="More"
              >
                <IconDots size={16} />
              </ActionIcon>
            }
          >
            {(popup) => <CallMenu {...popup} call={call} details={details} />}
          </ButtonWithPopup>
        )}
        <span className={classes.close}>
          <IconButton icon={IconX} label="Close call" hint="Close (Esc)" onClick={close} />
        </span>
      </Group>
    </header>
  )
}

/** The call as a page of its own, and back. */
function PageButton({ isPage }: { isPage: boolean }) {
  const navigate = useNavigate({ from: '/p/$project/calls/$call' })
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
      <IconButton
        icon={isPage ? IconArrowsDiagonalMinimize2 : IconArrowsDiagonal}
        label={label}
        hint={`${label} (f)`}
        onClick={toggle}
      />
    </span>
  )
}
