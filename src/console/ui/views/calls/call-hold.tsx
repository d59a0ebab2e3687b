import { ActionIcon, Button, Modal, TextInput, Tooltip } from '@mantine/core'
import { IconLock } from '@tabler/icons-react'
import { queryOptions, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { api, unwrap } from '../../api.ts'
import { Problem } from '../../components/problem.tsx'
import { useProject, useRefusal } from '../../session.ts'

const reasonCharsMax = 500

function holdsQuery(project: string, id: string) {
  return queryOptions({
    queryKey: ['calls', project, 'holds', id],
    queryFn: ({ signal }) => unwrap(api.projects({ project }).calls({ id }).holds.get({ fetch: { signal } })),
  })
}

/** The legal holds on a call; nothing if it has none. An owner can lift those on this call alone. */
export function CallHolds({ id }: { id: string }) {
  const project = useProject()
  const queryClient = useQueryClient()
  const isOwner = useRefusal('manage') === null
  const { queryKey, ...query } = holdsQuery(project.id, id)
  const { data: holds } = useQuery({ queryKey, ...query })
  const { mutate, isPending, error } = useMutation({
    mutationFn: (hold: string) => unwrap(api.projects({ project: project.id }).holds({ id: hold }).delete()),
    onSettled: () => queryClient.invalidateQueries({ queryKey }),
  })
  if (!holds || holds.data.length === 0) return null
  return (
    <ul className="cb-holds">
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
  const [isOpen, setIsOpen] = useState(false)
  if (useRefusal('manage') !== null) return null
  return (
    <>
      <Tooltip label="Put on hold">
        <ActionIcon
          variant="subtle"
          color="gray"
          size={28}
          aria-label="Put on hold"
          onClick={() => setIsOpen(true)}
        >
          <IconLock size={16} />
        </ActionIcon>
      </Tooltip>
      <Modal opened={isOpen} onClose={() => setIsOpen(false)} title="Put this call on hold" size={440}>
        {isOpen && <HoldForm id={id} onDone={() => setIsOpen(false)} />}
      </Modal>
    </>
  )
}

function HoldForm({ id, onDone }: { id: string; onDone: () => void }) {
  const project = useProject()
  const queryClient = useQueryClient()
  const [reason, setReason] = useState('')
  const { mutate, isPending, error } = useMutation({
    mutationFn: () =>
      unwrap(api.projects({ project: project.id }).holds.post({ callId: id, reason: reason.trim() })),
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: holdsQuery(project.id, id).queryKey })
      onDone()
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (reason.trim() && !isPending) mutate()
  }
  return (
    <form onSubmit={submit} className="cb-stack">
      <p>The call cannot be deleted until an owner lifts the hold.</p>
      <TextInput
        label="Reason"
        value={reason}
        maxLength={reasonCharsMax}
        onChange={(event) => setReason(event.currentTarget.value)}
        data-autofocus
      />
      {error && <Problem error={error} />}
      <div className="cb-row cb-hold-actions">
        <Button variant="default" onClick={onDone}>
          Cancel
        </Button>
        <Button type="submit" disabled={!reason.trim()} loading={isPending}>
          Put on hold
        </Button>
      </div>
    </form>
  )
}
