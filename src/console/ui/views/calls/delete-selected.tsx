import { notifications } from '@mantine/notifications'
import { useQueryClient } from '@tanstack/react-query'
import type { CallRow } from '../../../../calls/reading/call-rows.ts'
import { api, unwrap } from '../../api.ts'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { asCount, counted } from '../../components/figures.ts'
import { useFormatNumber } from '../../components/phone-number.ts'
import { useDates } from '../../components/use-dates.ts'
import { useProject } from '../../session.ts'
import { forgetCall } from './call-queries.ts'
import classes from './calls.module.css'
import type { Selection } from './selection.ts'

const namedMax = 5

interface DeleteSelectedProps {
  selection: Selection
  rows: readonly CallRow[]
  opened: boolean
  onClose: () => void
  onDeleted: (ids: readonly string[]) => void
}

/** Says how many calls are deleted, and asks once more. */
export function DeleteSelected({ selection, rows, opened, onClose, onDeleted }: DeleteSelectedProps) {
  const project = useProject()
  const dates = useDates()
  const formatNumber = useFormatNumber()
  const queryClient = useQueryClient()
  const { ids } = selection
  const calls = ids.size
  const remove = async () => {
    const chosen = { ids: [...ids] }
    const { deleted, held } = await unwrap(api.projects({ project: project.id }).calls.delete(chosen))
    onDeleted(deleted)
    for (const id of deleted) forgetCall(queryClient, project.id, id)
    const stays = held.length === 1 ? 'is on hold and was not deleted' : 'are on hold and were not deleted'
    notifications.show({
      message: `${counted(deleted.length, 'call')} ${deleted.length === 1 ? 'was' : 'were'} deleted`,
      ...(held.length > 0 ? { color: 'red', title: `${counted(held.length, 'call')} ${stays}` } : {}),
    })
    selection.set([])
  }
  const named = rows.filter(({ id }) => ids.has(id)).slice(0, namedMax)
  return (
    <ConfirmDialog
      opened={opened}
      onClose={onClose}
      title={`Delete ${counted(calls, 'call')}?`}
      confirmLabel={`Delete ${counted(calls, 'call')}`}
      onConfirm={remove}
    >
      {named.length > 0 && (
        <ul className={classes.going}>
          {named.map(({ id, createdAt, callerNumber }) => (
            <li key={id}>
              {dates.moment(createdAt)}
              {callerNumber !== null && ` · ${formatNumber(callerNumber)}`}
            </li>
          ))}
          {ids.size > named.length && <li>and {asCount(ids.size - named.length)} more</li>}
        </ul>
      )}
      <DeletionNote />
    </ConfirmDialog>
  )
}

/** What the deletion of calls means. */
export function DeletionNote() {
  return (
    <p>
      This deletes these calls for good, with their transcripts, summaries, analyses and details. This cannot
      be undone, and their IDs cannot be used again.
    </p>
  )
}
