import { Button } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { IconAlertTriangle, IconCheck, IconPower } from '@tabler/icons-react'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { WebhookAttempt } from '../../../../webhooks/deliveries.ts'
import type { WebhookRecord } from '../../../../webhooks/webhooks.ts'
import { api, unwrap } from '../../api.ts'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { counted } from '../../components/figures.ts'
import { Instant } from '../../components/instant.tsx'
import { Mono } from '../../components/mono.tsx'
import { StatusBadge } from '../../components/status-badge.tsx'
import { useProject } from '../../session.ts'
import classes from './settings.module.css'
import { webhooksQuery } from './webhook-queries.ts'

/** @param isAlways also when there is nothing to say */
export function WebhookState({ row, isAlways = false }: { row: WebhookRecord; isAlways?: boolean }) {
  const { enabled, failures } = row
  if (!enabled)
    return (
      <StatusBadge tone="danger" icon={<IconPower size={12} />}>
        Disabled
      </StatusBadge>
    )
  if (failures > 0)
    return (
      <StatusBadge tone="warning" icon={<IconAlertTriangle size={12} />}>
        {counted(failures, 'failure')}
      </StatusBadge>
    )
  return isAlways ? (
    <StatusBadge tone="neutral" icon={<IconCheck size={12} />}>
      Enabled
    </StatusBadge>
  ) : null
}

/** Why it is disabled, and enabling it. */
export function SwitchedOff({ row: { id, disabledAt, disabledReason } }: { row: WebhookRecord }) {
  const { id: project } = useProject()
  const queryClient = useQueryClient()
  const { mutate, isPending } = useMutation({
    mutationFn: () => unwrap(api.projects({ project }).webhooks({ id }).enable.post({})),
    onSuccess: () => queryClient.invalidateQueries(webhooksQuery(project)),
    onError: (failure) => notifications.show({ color: 'red', message: String(failure.message) }),
  })
  return (
    <span className={classes.webhookOff}>
      <span>
        {disabledReason} Disabled {disabledAt && <Instant at={disabledAt} />}. Nothing is sent until you
        enable it.
      </span>
      <Button size="compact-xs" variant="default" loading={isPending} onClick={() => mutate()}>
        Enable and send missed events
      </Button>
    </span>
  )
}

interface RemoveDialogProps {
  removing: WebhookRecord | null
  onClose: () => void
  onRemoved?: () => Promise<void>
}

export function RemoveDialog({ removing, onClose, onRemoved }: RemoveDialogProps) {
  const { id: project } = useProject()
  const queryClient = useQueryClient()
  const remove = async ({ id }: WebhookRecord) => {
    await unwrap(api.projects({ project }).webhooks({ id }).delete())
    await onRemoved?.()
    await queryClient.invalidateQueries(webhooksQuery(project))
    notifications.show({ message: 'Webhook deleted.', icon: <IconCheck size={16} /> })
  }
  return (
    <ConfirmDialog
      opened={removing !== null}
      onClose={onClose}
      title="Delete this webhook?"
      confirmLabel="Delete webhook"
      onConfirm={async () => removing && remove(removing)}
    >
      <p>
        <Mono>{removing?.url}</Mono> will get no more events. Its waiting events and its list of deliveries
        are deleted.
      </p>
    </ConfirmDialog>
  )
}

/** The status of the answer, or why there was none. */
export function AttemptStatus({
  attempt: { status, error },
}: {
  attempt: Pick<WebhookAttempt, 'status' | 'error'>
}) {
  if (status !== null && status >= 200 && status < 300)
    return <span className="cb-figure cb-dimmed">{status}</span>
  return (
    <span title={error ?? undefined}>
      <StatusBadge tone="danger" icon={<IconAlertTriangle size={12} />}>
        {status === null ? error : `${status}`}
      </StatusBadge>
    </span>
  )
}
