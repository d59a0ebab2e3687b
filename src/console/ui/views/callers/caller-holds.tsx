import { Button, TextInput } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import type { CallerRecord } from '../../../../calls/keeping/callers.ts'
import type { HoldRecord } from '../../../../calls/keeping/holds.ts'
import { api, unwrap } from '../../api.ts'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { fieldErrors, isAboutFields } from '../../components/field-errors.ts'
import { Instant } from '../../components/instant.tsx'
import { Panel } from '../../components/panel.tsx'
import { Problem } from '../../components/problem.tsx'
import { refreshHolds } from '../calls/call-queries.ts'
import classes from './caller.module.css'
import { callerHoldsQuery } from './caller-queries.ts'

interface CallerPart {
  caller: CallerRecord
  project: string
}

/** The legal holds on the person's number; owners set and lift them. */
export function CallerHolds({ caller, project, mayManage }: CallerPart & { mayManage: boolean }) {
  const { data, error, refetch } = useQuery(callerHoldsQuery(project, caller.id))
  const [lifting, setLifting] = useState<HoldRecord | null>(null)
  const queryClient = useQueryClient()
  const holds = data?.data ?? []
  return (
    <Panel title="Legal hold">
      <div className="cb-stack">
        {error && !data && (
          <Problem error={error} title="The holds could not be loaded" onRetry={() => void refetch()} />
        )}
        {data && holds.length === 0 && (
          <p className="cb-dimmed">
            Not on hold. A hold keeps all calls of this number from being deleted, also later ones.
          </p>
        )}
        {holds.length > 0 && (
          <ul className={classes.holds}>
            {holds.map((hold) => (
              <li key={hold.id}>
                <p>
                  <span dir="auto">{hold.reason}</span>
                  <br />
                  <span className="cb-dimmed">
                    Since <Instant at={hold.createdAt} as="day" /> {hold.createdBy && `by ${hold.createdBy}`}
                  </span>
                </p>
                {mayManage && (
                  <Button size="xs" variant="default" onClick={() => setLifting(hold)}>
                    Lift
                  </Button>
                )}
              </li>
            ))}
          </ul>
        )}
        {mayManage && holds.length === 0 && data && <SetHold caller={caller} project={project} />}
      </div>
      <ConfirmDialog
        opened={lifting !== null}
        onClose={() => setLifting(null)}
        title="Lift this hold?"
        confirmLabel="Lift hold"
        onConfirm={async () => {
          if (!lifting) return
          await unwrap(api.projects({ project }).holds({ id: lifting.id }).delete())
          await refreshHolds(queryClient, project)
        }}
      >
        Its calls can be deleted again, including by retention, unless another hold covers them. The reason is
        erased.
      </ConfirmDialog>
    </Panel>
  )
}

function SetHold({ caller, project }: CallerPart) {
  const [reason, setReason] = useState('')
  const queryClient = useQueryClient()
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => unwrap(api.projects({ project }).holds.post({ number: caller.number, reason })),
    onSuccess: async () => {
      setReason('')
      notifications.show({ message: 'Hold set.' })
      await refreshHolds(queryClient, project)
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (reason.trim() !== '' && !isPending) mutate()
  }
  return (
    <form onSubmit={submit} className="cb-stack" noValidate>
      <TextInput
        label="Reason"
        value={reason}
        onChange={(event) => setReason(event.currentTarget.value)}
        maxLength={500}
        autoComplete="off"
        error={fieldErrors(error).reason}
      />
      {error && !isAboutFields(error, ['reason']) && <Problem error={error} />}
      <Button type="submit" variant="default" disabled={reason.trim() === ''} loading={isPending}>
        Put on hold
      </Button>
    </form>
  )
}
