import { Button, CloseButton, Popover, Skeleton } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { IconTag, IconTrash } from '@tabler/icons-react'
import { useQueryClient } from '@tanstack/react-query'
import { lazy, Suspense, useState } from 'react'
import type { CallRow } from '../../../../calls/reading/call-rows.ts'
import { api, unwrap } from '../../api.ts'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { asCount, counted } from '../../components/figures.ts'
import { Guarded } from '../../components/guarded.tsx'
import { formatNumber } from '../../components/phone-number.ts'
import { useDates } from '../../components/use-dates.ts'
import { useProject } from '../../session.ts'
import { forgetCall } from './call-queries.ts'
import classes from './calls.module.css'
import type { Selection } from './selection.ts'

const LabelForm = lazy(() => import('./label-form.tsx'))

const namedMax = 5

interface SelectedCallsProps {
  selection: Selection
  rows: readonly CallRow[]
  openId: string | undefined
  /** Closes the open call. */
  onClose: () => void
}

/** What can be done with the selected calls. */
export default function SelectedCalls({ selection, rows, openId, onClose }: SelectedCallsProps) {
  const project = useProject()
  const dates = useDates()
  const queryClient = useQueryClient()
  const [isAsked, setIsAsked] = useState(false)
  const ids = [...selection.ids]
  const remove = async () => {
    const { deleted, held } = await unwrap(api.projects({ project: project.id }).calls.delete({ ids }))
    if (openId !== undefined && deleted.includes(openId)) onClose()
    for (const id of deleted) forgetCall(queryClient, project.id, id)
    selection.set([])
    const stays = held.length === 1 ? 'is on hold and was not deleted' : 'are on hold and were not deleted'
    notifications.show({
      message: `${counted(deleted.length, 'call')} ${deleted.length === 1 ? 'was' : 'were'} deleted`,
      ...(held.length > 0 ? { color: 'red', title: `${counted(held.length, 'call')} ${stays}` } : {}),
    })
  }
  const named = rows.filter(({ id }) => selection.ids.has(id)).slice(0, namedMax)
  return (
    <>
      {ids.length > 0 && (
        <section className={classes.selected} aria-label="Selected calls">
          <span role="status">{asCount(ids.length)} selected</span>
          <LabelCalls ids={ids} rows={rows} />
          <Guarded right="delete">
            <Button
              size="compact-sm"
              variant="subtle"
              color="red"
              c="var(--cb-danger-text)"
              leftSection={<IconTrash size={14} aria-hidden />}
              onClick={() => setIsAsked(true)}
            >
              Delete
            </Button>
          </Guarded>
          <CloseButton size="sm" aria-label="Clear selection" onClick={() => selection.set([])} />
        </section>
      )}
      <ConfirmDialog
        opened={isAsked}
        onClose={() => setIsAsked(false)}
        title={`Delete ${counted(ids.length, 'call')}?`}
        confirmLabel={`Delete ${counted(ids.length, 'call')}`}
        onConfirm={remove}
      >
        <ul className={classes.going}>
          {named.map(({ id, createdAt, callerNumber }) => (
            <li key={id}>
              {dates.moment(createdAt)}
              {callerNumber !== null && ` · ${formatNumber(callerNumber)}`}
            </li>
          ))}
          {ids.length > named.length && <li>and {asCount(ids.length - named.length)} more</li>}
        </ul>
        <p>
          This deletes these calls for good, with their transcripts, summaries, analyses and details. This
          cannot be undone, and their IDs cannot be used again.
        </p>
      </ConfirmDialog>
    </>
  )
}

interface LabelCallsProps {
  ids: string[]
  rows: readonly CallRow[]
}

/** Adds labels to the selected calls, and takes others away. */
function LabelCalls({ ids, rows }: LabelCallsProps) {
  const [isOpen, setIsOpen] = useState(false)
  return (
    // Without the roles that it would give to the element around the button.
    <Popover opened={isOpen} onChange={setIsOpen} position="top" trapFocus returnFocus withRoles={false}>
      <Popover.Target>
        <span>
          <Guarded right="change">
            <Button
              size="compact-sm"
              variant="subtle"
              color="gray"
              leftSection={<IconTag size={14} aria-hidden />}
              aria-haspopup="dialog"
              aria-expanded={isOpen}
              onClick={() => setIsOpen(!isOpen)}
            >
              Label
            </Button>
          </Guarded>
        </span>
      </Popover.Target>
      <Popover.Dropdown role="dialog" aria-label="Label selected calls">
        <Suspense fallback={<Skeleton width={252} height={108} />}>
          <LabelForm ids={ids} rows={rows} onDone={() => setIsOpen(false)} />
        </Suspense>
      </Popover.Dropdown>
    </Popover>
  )
}
