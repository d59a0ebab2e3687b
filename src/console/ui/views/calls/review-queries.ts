import { type QueryKey, skipToken, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type { ReviewChange } from '../../../../calls/review/schemas.ts'
import type { Review } from '../../../../calls/schemas.ts'
import { ApiProblem, pathOf, read, unwrap } from '../../api.ts'
import { sayNotDone } from '../../components/acts.ts'
import { usePerson, useProject } from '../../session.ts'

/** Changes a review: shown at once, and undone if it cannot be stored. */
export function useReview(id: string) {
  const { id: project, of } = useProject()
  const person = usePerson()
  const queryClient = useQueryClient()
  const { queryKey } = read(of.calls({ id }).details)
  return useMutation({
    // Sent one after the other, so that the last answer belongs to the last change.
    scope: { id: `review ${id}` },
    mutationFn: (change: ReviewChange) => unwrap(of.calls({ id }).review.patch(change)),
    onMutate: async (change) => {
      await queryClient.cancelQueries({ queryKey })
      const before = queryClient.getQueryData(queryKey)
      if (before) {
        const review = withChange(before.review, change, person.name)
        queryClient.setQueryData(queryKey, { ...before, review })
      }
      return { before }
    },
    onSuccess: (details, { addLabels, note }) => {
      queryClient.setQueryData(queryKey, details)
      if (note !== undefined) queryClient.setQueryData(unsavedNoteKey(project, id), null)
      if (addLabels) void queryClient.invalidateQueries({ queryKey: pathOf(of['call-facets']) })
    },
    onError: (error, change, context) => {
      if (context?.before) queryClient.setQueryData(queryKey, context.before)
      const hasChanged = error instanceof ApiProblem && error.code === 'note_has_changed'
      if (change.note !== undefined)
        queryClient.setQueryData<UnsavedNote>(unsavedNoteKey(project, id), {
          note: change.note ?? '',
          hasChanged,
        })
      if (hasChanged) return queryClient.invalidateQueries({ queryKey })
      sayNotDone('Your change was not saved', error)
    },
  })
}

interface UnsavedNote {
  note: string
  /** Whether somebody else changed the note meanwhile; otherwise saving failed. */
  hasChanged: boolean
}

function unsavedNoteKey(project: string, id: string): QueryKey {
  return ['unsaved note', project, id]
}

/** A note that was not saved. It is kept until the person decides. */
export function useUnsavedNote(id: string) {
  const project = useProject()
  const queryClient = useQueryClient()
  const queryKey = unsavedNoteKey(project.id, id)
  const { data } = useQuery<UnsavedNote | null>({
    queryKey,
    queryFn: skipToken,
    gcTime: Number.POSITIVE_INFINITY,
  })
  return { unsaved: data ?? null, forget: () => queryClient.setQueryData(queryKey, null) }
}

/** Verdicts after a change, in which null takes one back. */
function ruled(
  stored: Review['criteria'],
  change: ReviewChange['criteria'],
): NonNullable<Review['criteria']> {
  const all = Object.entries({ ...stored, ...change })
  return Object.fromEntries(all.flatMap(([id, verdict]) => (verdict ? [[id, verdict]] : [])))
}

/** The expected review, until the service answers. */
function withChange(review: Review | null, change: ReviewChange, by: string): Review {
  const {
    addLabels = [],
    removeLabels = [],
    flagTurns = [],
    unflagTurns = [],
    noteBefore,
    criteria,
    ...said
  } = change
  const { labels = [], flaggedTurns = [], evaluation = null, note = null, reviewed = false } = review ?? {}
  return {
    evaluation,
    note,
    assignee: review?.assignee ?? null,
    reviewed: reviewed || typeof said.evaluation === 'string',
    ...said,
    criteria: ruled(review?.criteria, criteria),
    labels: [...new Set([...labels, ...addLabels])].filter((label) => !removeLabels.includes(label)),
    flaggedTurns: [...new Set([...flaggedTurns, ...flagTurns])].filter((turn) => !unflagTurns.includes(turn)),
    by,
    at: new Date().toISOString(),
  }
}
