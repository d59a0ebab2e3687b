import { ActionIcon, Button } from '@mantine/core'
import { IconLock } from '@tabler/icons-react'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { lazy } from 'react'
import { api, unwrap } from '../../api.ts'
import { ButtonWithPopup } from '../../components/popup.tsx'
import { Problem } from '../../components/problem.tsx'
import { useProject, useRefusal } from '../../session.ts'
import classes from './call.module.css'
import { holdsQuery } from './call-queries.ts'

const loadDialog = () => import('./hold-dialog.tsx')
const HoldDialog = lazy(loadDialog)

/** The legal holds on a call; nothing if it has none, and for viewers. An owner can lift those on this call alone. */
export function CallHolds({ id }: { id: string }) {
  const project = useProject()
  const queryClient = useQueryClient()
  const isOwner = useRefusal('manage') === null
  const mayRead = useRefusal('change') === null
  const { queryKey, ...query } = holdsQuery(project.id, id)
  const { data: holds } = useQuery({ queryKey, ...query, enabled: mayRead })
  const { mutate, isPending, error } = useMutation({
    mutationFn: (hold: string) => unwrap(api.projects({ project: project.id }).holds({ id: hold }).delete()),
    onSettled: () => queryClient.invalidateQueries({ queryKey }),
  })
  if (!holds || holds.data.length === 0) return null
  return (
    <ul className={classes.holds}>
      {holds.data.map((hold) => (
        <li key={hold.id}>
          <IconLock size={14} aria-hidden />
          <span>
            {hold.number === null ? 'On hold' : 'Number on hold'}: {hold.reason}
          </span>
          {isOwner && hold.callId === id && (
            <Button variant="default" size="xs" loading={isPending} onClick={() => mutate(hold.id)}>
              Lift
            </Button>
          )}
        </li>
      ))}
      {error && <Problem error={error} />}
    </ul>
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
