import { notifications } from '@mantine/notifications'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { ReviewChange } from '../../../../calls/review/schemas.ts'
import { api, unwrap } from '../../api.ts'
import { counted } from '../../components/figures.ts'
import { sayNotDone } from '../../components/say-not-done.ts'
import { callKeys } from '../../query-keys.ts'
import { useProject } from '../../session.ts'
import type { Selection } from './selection.ts'
import { useTasks } from './use-tasks.ts'

/** What can be changed of many calls at once. */
export type ManyChange = Pick<
  ReviewChange,
  'evaluation' | 'reviewed' | 'assignee' | 'addLabels' | 'removeLabels'
>

/** Changes the selected calls: chosen ones at once, and all that match in ten seconds, until when it can be undone. */
export function useManyChange({ ids, frozen, set }: Selection) {
  const project = useProject()
  const queryClient = useQueryClient()
  const { begin } = useTasks()
  const { mutate, isPending } = useMutation({
    mutationFn: async (change: ManyChange) => {
      const { calls, 'call-sets': sets } = api.projects({ project: project.id })
      const verb = verbOf(change)
      if (frozen) {
        await unwrap(sets({ id: frozen.id }).change.put(change))
        set([])
        return void begin({ set: frozen.id, verb, canUndo: true })
      }
      const { changed, failed } = await unwrap(calls.review.post({ ids: [...ids], change }))
      for (const keys of [callKeys.first, callKeys.facets, callKeys.details])
        void queryClient.invalidateQueries({ queryKey: keys(project.id) })
      const refused =
        failed.length > 0 ? `. ${counted(failed.length, 'call')} failed: ${failed[0]?.message}` : ''
      notifications.show({ message: `${counted(changed.length, 'call')} ${verb}${refused}` })
    },
    onError: (error) => sayNotDone('The calls were not changed', error),
  })
  return { change: mutate, isPending }
}

/** What was done to the calls: `labeled`. */
function verbOf({ evaluation, reviewed, assignee, addLabels = [], removeLabels = [] }: ManyChange): string {
  if (evaluation !== undefined) return evaluation === null ? 'cleared of people’s evaluations' : 'evaluated'
  if (reviewed !== undefined) return reviewed ? 'marked as reviewed' : 'marked as not reviewed'
  if (assignee !== undefined) return assignee === null ? 'unassigned' : 'assigned'
  return addLabels.length > 0 ? 'labeled' : `cleared of ${counted(removeLabels.length, 'label')}`
}
