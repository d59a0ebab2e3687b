import { Button } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { ChangedReview, ManyChange } from '../../../../calls/review/schemas.ts'
import { api, unwrap } from '../../api.ts'
import { counted } from '../../components/figures.ts'
import { sayNotDone } from '../../components/say-not-done.ts'
import { callKeys } from '../../query-keys.ts'
import { useProject } from '../../session.ts'
import classes from './calls.module.css'
import type { Selection } from './selection.ts'

/** How long a change can be undone. */
const undoMs = 20_000
/** Calls of one request to undo a change, which says what each had before. */
const callsPerUndo = 40

/** Changes the selected calls, and offers to undo it. */
export function useManyChange({ ids }: Selection) {
  const project = useProject()
  const queryClient = useQueryClient()
  const { calls } = api.projects({ project: project.id })
  const refresh = () => {
    for (const keys of [callKeys.first, callKeys.facets, callKeys.details])
      void queryClient.invalidateQueries({ queryKey: keys(project.id) })
  }
  const undo = async (change: ManyChange, changed: ChangedReview[]) => {
    let [undone, failed] = [0, 0]
    try {
      for (let at = 0; at < changed.length; at += callsPerUndo) {
        const some = changed.slice(at, at + callsPerUndo)
        const answer = await unwrap(calls.review.undo.post({ change, changed: some }))
        undone += answer.undone.length
        failed += answer.failed.length
      }
      const kept = failed > 0 ? `. ${counted(failed, 'call')} changed since and stayed` : ''
      notifications.show({ message: `${counted(undone, 'call')} back as before${kept}` })
    } catch (error) {
      sayNotDone('The change was not undone', error)
    }
    refresh()
  }
  const { mutate, isPending } = useMutation({
    mutationFn: async (change: ManyChange) => {
      const { changed, failed } = await unwrap(calls.review.post({ ids: [...ids], change }))
      refresh()
      const refused =
        failed.length > 0 ? `. ${counted(failed.length, 'call')} failed: ${failed[0]?.message}` : ''
      const done = `${counted(changed.length, 'call')} ${verbOf(change)}${refused}`
      if (changed.length === 0) return void notifications.show({ message: done })
      const id = notifications.show({
        autoClose: undoMs,
        message: (
          <span className={classes.undo}>
            {done}
            <Button
              size="compact-xs"
              variant="light"
              onClick={() => {
                notifications.hide(id)
                void undo(change, changed)
              }}
            >
              Undo
            </Button>
          </span>
        ),
      })
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
