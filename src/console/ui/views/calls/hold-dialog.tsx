import { Button, Modal, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { api, unwrap } from '../../api.ts'
import type { PopupProps } from '../../components/popup.tsx'
import { Problem } from '../../components/problem.tsx'
import { useProject } from '../../session.ts'
import classes from './call.module.css'
import { refreshHolds } from './call-queries.ts'

const reasonCharsMax = 500

/** Asks why the call is put on hold. */
export default function HoldDialog({ id, target, opened, onChange }: PopupProps & { id: string }) {
  const close = () => onChange(false)
  return (
    <>
      {target}
      <Modal opened={opened} onClose={close} title="Put this call on hold" size={440}>
        {opened && <HoldForm id={id} onDone={close} />}
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
      await refreshHolds(queryClient, project.id)
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
      <div className={`cb-row ${classes.holdActions}`}>
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
