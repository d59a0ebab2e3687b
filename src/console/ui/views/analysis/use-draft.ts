import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { analysisKeys } from '../../query-keys.ts'
import type { RubricDraft } from './rubric-draft.ts'

/** The unsaved rubric of a project, kept while the console is open, whatever page is shown. */
export function useDraft(project: string) {
  const queryClient = useQueryClient()
  const queryKey = analysisKeys.draft(project)
  // A state of its own, since the cache tells its readers later.
  const [draft, setShown] = useState(() => {
    queryClient.setQueryDefaults(queryKey, { gcTime: Number.POSITIVE_INFINITY })
    return queryClient.getQueryData<RubricDraft | null>(queryKey) ?? null
  })
  const setDraft = (next: RubricDraft | null) => {
    setShown(next)
    queryClient.setQueryData(queryKey, next)
  }
  return { draft, setDraft }
}
