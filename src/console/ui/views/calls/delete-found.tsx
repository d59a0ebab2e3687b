import { notifications } from '@mantine/notifications'
import { useQuery } from '@tanstack/react-query'
import { api, unwrap } from '../../api.ts'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { counted } from '../../components/figures.ts'
import { Problem } from '../../components/problem.tsx'
import { callKeys } from '../../query-keys.ts'
import { stringifySearch } from '../../search-params.ts'
import { useProject } from '../../session.ts'
import type { ChosenFilters } from './chosen-filters.ts'
import { DeletionNote } from './delete-selected.tsx'

interface DeleteFoundProps {
  /** The filters of the list, as the API takes them. */
  asked: ChosenFilters
  opened: boolean
  onClose: () => void
  onDeleted: () => void
}

/** Counts all calls that match, and asks once more before they are deleted. */
export function DeleteFound({ asked, opened, onClose, onDeleted }: DeleteFoundProps) {
  const project = useProject()
  const query = stringifySearch(asked) || '?'
  const found = api.projects({ project: project.id })['call-sets']
  const { data, error } = useQuery({
    queryKey: callKeys.toDelete(project.id, query),
    queryFn: ({ signal }) => unwrap(found.delete({ query, dryRun: true }, { fetch: { signal } })),
    enabled: opened,
    staleTime: 0,
    gcTime: 0,
  })
  const all = data ? counted(data.calls, 'call') : 'all calls that match'
  const onHold = data?.onHold ?? 0
  const remove = async () => {
    const { calls } = await unwrap(found.delete({ query }))
    notifications.show({
      message: `${counted(calls, 'call')} ${calls === 1 ? 'is' : 'are'} being deleted`,
    })
    onDeleted()
  }
  return (
    <ConfirmDialog
      opened={opened && (data !== undefined || error !== null)}
      onClose={onClose}
      title={`Delete ${all}?`}
      confirmLabel={`Delete ${all}`}
      onConfirm={remove}
    >
      {error && <Problem title="The calls could not be counted" error={error} />}
      {onHold > 0 && (
        <p>
          {counted(onHold, 'call')} {onHold === 1 ? 'is' : 'are'} on hold and{' '}
          {onHold === 1 ? 'stays' : 'stay'}.
        </p>
      )}
      <DeletionNote />
    </ConfirmDialog>
  )
}
