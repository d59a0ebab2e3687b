import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { MarkChange } from '../../../../knowledge/questions/question-marks.ts'
import { pathOf, unwrap } from '../../api.ts'
import { sayNotDone } from '../../components/say-not-done.ts'
import { useProject } from '../../session.ts'

/** The service asks gaps again after a change of knowledge: soon afterwards they close here. */
export const refetchInterval = 15_000

/** Says what a person thinks of a question, or who sees to it. */
export function useMark() {
  const { questions } = useProject().of
  const queryClient = useQueryClient()
  return useMutation({
    mutationFn: ({ id, ...change }: MarkChange & { id: string }) =>
      unwrap(questions.asked({ id }).patch(change)),
    onError: (error) => sayNotDone('Your change was not saved', error),
    onSettled: () => queryClient.invalidateQueries({ queryKey: pathOf(questions) }),
  })
}
