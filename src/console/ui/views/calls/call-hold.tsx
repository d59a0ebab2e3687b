import { ActionIcon, Button } from '@mantine/core'
import { IconLock } from '@tabler/icons-react'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { lazy } from 'react'
import { api, unwrap } from '../../api.ts'
import { ButtonWithPopup } from '../../components/popup.tsx'
import { useProject, useRefusal } from '../../session.ts'
import classes from './call.module.css'
import { holdsQuery, refreshHolds } from './call-queries.ts'

const loadConfirmDialog = () => import('../../components/confirm-dialog.tsx')
const ConfirmDialog = lazy(async () => ({ default: (await loadConfirmDialog()).ConfirmDialog }))
const loadDialog = () => import('./hold-dialog.tsx')
const HoldDialog = lazy(loadDialog)

/** Whether the call is on hold, and by which holds. Viewers are not told. */
export function useHolds(id: string) {
  const project = useProject()
  const mayRead = useRefusal('change') === null
  return useQuery({ ...holdsQuery(project.id, id), enabled: mayRead }).data?.data ?? []
}

/** The legal holds on a call; nothing if it has none, and for viewers. An owner can lift those on this call alone. */
export function CallHolds({ id }: { id: string }) {
  const isOwner = useRefusal('manage') === null
  const holds = useHolds(id)
  if (holds.length === 0) return null
  return (
    <ul className={classes.holds}>
      {holds.map((hold) => (
        <li key={hold.id}>
          <IconLock size={14} aria-hidden />
          <span dir="auto">
            {hold.number === null ? 'On hold' : 'Number on hold'}: {hold.reason}
          </span>
          {isOwner && hold.callId === id && <LiftButton hold={hold.id} />}
        </li>
      ))}
    </ul>
  )
}

function LiftButton({ hold }: { hold: string }) {
  const project = useProject()
  const queryClient = useQueryClient()
  const lift = async () => {
    await unwrap(api.projects({ project: project.id }).holds({ id: hold }).delete())
    await refreshHolds(queryClient, project.id)
  }
  return (
    <ButtonWithPopup
      kind="dialog"
      load={loadConfirmDialog}
      button={
        <Button variant="default" size="compact-xs">
          Lift
        </Button>
      }
    >
      {({ opened, onChange, target }) => (
        <>
          {target}
          <ConfirmDialog
            opened={opened}
            onClose={() => onChange(false)}
            title="Lift this hold?"
            confirmLabel="Lift hold"
            onConfirm={lift}
          >
            The call can be deleted again, including by retention, unless another hold covers it. The reason
            of this hold is erased.
          </ConfirmDialog>
        </>
      )}
    </ButtonWithPopup>
  )
}

/** A button for owners that puts the call on hold. */
export function HoldButton({ id }: { id: string }) {
  if (useRefusal('manage') !== null) return null
  return (
    <ButtonWithPopup
      kind="dialog"
      load={loadDialog}
      button={
        <ActionIcon data-hint="Put on hold" variant="subtle" color="gray" size={28} aria-label="Put on hold">
          <IconLock size={16} />
        </ActionIcon>
      }
    >
      {(popup) => <HoldDialog {...popup} id={id} />}
    </ButtonWithPopup>
  )
}
