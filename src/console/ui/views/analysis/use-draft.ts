import { skipToken, useQuery, useQueryClient } from '@tanstack/react-query'
import { analysisKeys } from '../../query-keys.ts'
import type { RubricDraft } from './rubric-draft.ts'

/** The unsaved rubric of a project, kept while the console is open, whatever page is shown. */
export function useDraft(project: string) {
  const queryClient = useQueryClient()
  const queryKey = analysisKeys.draft(project)
  const { data } = useQuery<RubricDraft | null>({
    queryKey,
    queryFn: skipToken,
    gcTime: Number.POSITIVE_INFINITY,
  })
  return {
    draft: data ?? null,
    setDraft: (draft: RubricDraft | null) => queryClient.setQueryData(queryKey, draft),
  }
}
