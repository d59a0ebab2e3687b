import { keepPreviousData, queryOptions, useMutation, useQueryClient } from '@tanstack/react-query'
import type { QuestionState } from '../../../../knowledge/questions/question-groups.ts'
import type { MarkChange } from '../../../../knowledge/questions/question-marks.ts'
import { api, unwrap } from '../../api.ts'
import { sayNotDone } from '../../components/say-not-done.ts'
import { questionKeys } from '../../query-keys.ts'
import { useProject } from '../../session.ts'

/** The service asks gaps again after a change of knowledge: soon afterwards they close here. */
const refetchMs = 15_000

export function countsQuery(project: string) {
  return queryOptions({
    queryKey: questionKeys.counts(project),
    queryFn: ({ signal }) => unwrap(api.projects({ project }).questions.get({ fetch: { signal } })),
    refetchInterval: refetchMs,
  })
}

export function askedQuery(project: string, state: QuestionState, assignee: string | undefined) {
  return queryOptions({
    queryKey: questionKeys.asked(project, state, assignee),
    queryFn: ({ signal }) =>
      unwrap(
        api.projects({ project }).questions.asked.get({
          query: { state, ...(assignee === undefined ? {} : { assignee }) },
          fetch: { signal },
        }),
      ),
    placeholderData: keepPreviousData,
    refetchInterval: refetchMs,
  })
}

export function questionQuery(project: string, id: string) {
  return queryOptions({
    queryKey: questionKeys.one(project, id),
    queryFn: ({ signal }) =>
      unwrap(api.projects({ project }).questions.asked({ id }).get({ fetch: { signal } })),
    refetchInterval: refetchMs,
  })
}

/** Who questions can be assigned to. */
export function questionPeopleQuery(project: string) {
  return queryOptions({
    queryKey: questionKeys.people(project),
    queryFn: ({ signal }) => unwrap(api.projects({ project }).questions.people.get({ fetch: { signal } })),
    staleTime: 60_000,
  })
}

export function goldenQuery(project: string) {
  return queryOptions({
    queryKey: questionKeys.golden(project),
    queryFn: ({ signal }) => unwrap(api.projects({ project }).questions.golden.get({ fetch: { signal } })),
    refetchInterval: refetchMs,
  })
}

/** Says what a person thinks of a question, or who sees to it. */
export function useMark() {
  const { id: project } = useProject()
  const queryClient = useQueryClient()
  return useMutation({
    mutationFn: ({ id, ...change }: MarkChange & { id: string }) =>
      unwrap(api.projects({ project }).questions.asked({ id }).patch(change)),
    onError: (error) => sayNotDone('Your change was not saved', error),
    onSettled: () => queryClient.invalidateQueries({ queryKey: questionKeys.all(project) }),
  })
}
