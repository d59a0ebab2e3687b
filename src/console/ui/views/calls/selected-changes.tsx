import { Button, Group } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { CallRow } from '../../../../calls/reading/call-rows.ts'
import type { ChangedReview, ManyChange } from '../../../../calls/review/schemas.ts'
import { pathOf, unwrap } from '../../api.ts'
import { sayNotDone } from '../../components/acts.ts'
import { useConfirm } from '../../components/dialogs.tsx'
import { asCount, counted } from '../../components/figures.ts'
import { useDates } from '../../components/use-dates.ts'
import { stringifySearch } from '../../search-params.ts'
import { useProject } from '../../session.ts'
import { forgetCall } from './call-queries.ts'
import type { ResolvedFilters } from './chosen-filters.ts'
import type { Selection } from './selection.ts'

/** How long a change can be undone. */
const undoMs = 20_000
/** Calls of one request to undo a change, which says what each had before. */
const callsPerUndo = 40
const namedMax = 5

/** Changes the selected calls, and offers to undo it. */
export function useManyChange({ ids }: Selection) {
  const { of } = useProject()
  const queryClient = useQueryClient()
  const { review } = of.calls
  const refresh = () => {
    for (const changed of [of.calls, of['call-facets']])
      void queryClient.invalidateQueries({ queryKey: pathOf(changed) })
  }
  const undo = async (change: ManyChange, changed: ChangedReview[]) => {
    let [undone, failed] = [0, 0]
    try {
      for (let at = 0; at < changed.length; at += callsPerUndo) {
        const some = changed.slice(at, at + callsPerUndo)
        const answer = await unwrap(review.undo.post({ change, changed: some }))
        undone += answer.undone.length
        failed += answer.failed.length
      }
      const stayed = failed > 0 ? `. ${counted(failed, 'call')} changed since and stayed` : ''
      notifications.show({ message: `${counted(undone, 'call')} back as before${stayed}` })
    } catch (error) {
      sayNotDone('The change was not undone', error)
    }
    refresh()
  }
  const { mutate, isPending } = useMutation({
    mutationFn: async (change: ManyChange) => {
      const { changed, failed } = await unwrap(review.post({ ids: [...ids], change }))
      refresh()
      const refused =
        failed.length > 0 ? `. ${counted(failed.length, 'call')} failed: ${failed[0]?.message}` : ''
      const done = `${counted(changed.length, 'call')} ${verbOf(change)}${refused}`
      if (changed.length === 0) return void notifications.show({ message: done })
      const id = notifications.show({
        autoClose: undoMs,
        message: (
          <Group component="span" justify="space-between" gap="xs">
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
          </Group>
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

/** Says how many calls are deleted, and asks once more. @param onDeleted called with the ids of those deleted */
export function useDeleteSelected(
  selection: Selection,
  rows: readonly CallRow[],
  onDeleted: (ids: readonly string[]) => void,
) {
  const { id: project, of } = useProject()
  const queryClient = useQueryClient()
  const ask = useConfirm()
  const ids = [...selection.ids]
  const calls = counted(ids.length, 'call')
  return () =>
    ask({
      title: `Delete ${calls}?`,
      verb: `Delete ${calls}`,
      text: (
        <Deletion
          calls={ids.length}
          named={rows.filter(({ id }) => selection.ids.has(id)).slice(0, namedMax)}
        />
      ),
      send: () => of.calls.delete({ ids }),
      done: ({ deleted, held }) => {
        onDeleted(deleted)
        for (const id of deleted) forgetCall(queryClient, project, id)
        const stays =
          held.length === 1 ? 'is on hold and was not deleted' : 'are on hold and were not deleted'
        notifications.show({
          message: `${counted(deleted.length, 'call')} ${deleted.length === 1 ? 'was' : 'were'} deleted`,
          ...(held.length > 0 ? { color: 'red', title: `${counted(held.length, 'call')} ${stays}` } : {}),
        })
        selection.set([])
      },
    })
}

/** Counts all calls that match, and asks once more before they are deleted. */
export function useDeleteMatching(selection: Selection, filters: ResolvedFilters) {
  const { of } = useProject()
  const ask = useConfirm()
  const query = stringifySearch(filters) || '?'
  return useMutation({
    mutationFn: () => unwrap(of['call-sets'].delete({ query, dryRun: true })),
    onError: (error) => sayNotDone('The calls could not be counted', error),
    onSuccess: ({ calls, onHold = 0 }) =>
      ask({
        title: `Delete ${counted(calls, 'call')}?`,
        verb: `Delete ${counted(calls, 'call')}`,
        text: (
          <>
            {onHold > 0 && (
              <p>
                {counted(onHold, 'call')} {onHold === 1 ? 'is on hold and stays' : 'are on hold and stay'}.
              </p>
            )}
            <Deletion calls={calls} named={[]} />
          </>
        ),
        send: () => of['call-sets'].delete({ query }),
        says: ({ calls: deleted }) =>
          `${counted(deleted, 'call')} ${deleted === 1 ? 'is' : 'are'} being deleted`,
        done: () => selection.set([]),
      }),
  })
}

/** What a deletion means, and the first of the calls. */
function Deletion({ calls, named }: { calls: number; named: readonly CallRow[] }) {
  const dates = useDates()
  return (
    <>
      {named.length > 0 && (
        <ul>
          {named.map(({ id, createdAt, numbers: { callerNumber } }) => (
            <li key={id} className="cb-figure">
              {dates.moment(createdAt)}
              {callerNumber !== null && ` · ${callerNumber}`}
            </li>
          ))}
          {calls > named.length && <li>and {asCount(calls - named.length)} more</li>}
        </ul>
      )}
      <p>
        This deletes these calls for good, with their transcripts, summaries, analyses and details. This
        cannot be undone, and their IDs cannot be used again.
      </p>
    </>
  )
}
