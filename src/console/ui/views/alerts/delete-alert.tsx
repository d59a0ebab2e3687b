import { notifications } from '@mantine/notifications'
import { useQueryClient } from '@tanstack/react-query'
import type { Alert } from '../../../../alerts/schemas.ts'
import { api, unwrap } from '../../api.ts'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { alertKeys } from '../../query-keys.ts'
import { useProject } from '../../session.ts'

interface DeleteAlertProps {
  deleting: Pick<Alert, 'id' | 'name'> | null
  onClose: () => void
  onDeleted?: () => void
}

/** Asks before an alert is deleted. */
export function DeleteAlert({ deleting, onClose, onDeleted }: DeleteAlertProps) {
  const { id: project } = useProject()
  const queryClient = useQueryClient()
  const remove = async ({ id, name }: Pick<Alert, 'id' | 'name'>) => {
    await unwrap(api.projects({ project }).alerts({ id }).delete())
    onDeleted?.()
    await queryClient.invalidateQueries({ queryKey: alertKeys.all(project) })
    notifications.show({ message: `Deleted the alert “${name}”` })
  }
  return (
    <ConfirmDialog
      opened={deleting !== null}
      onClose={onClose}
      title="Delete this alert?"
      confirmLabel="Delete alert"
      onConfirm={async () => deleting && remove(deleting)}
    >
      <p>
        Nothing more is sent of <strong dir="auto">{deleting?.name}</strong>, and what it told so far is
        deleted. An open incident at PagerDuty stays for you to resolve. Pause the alert to keep all of it.
      </p>
    </ConfirmDialog>
  )
}
