import { skipToken, useQuery, useQueryClient } from '@tanstack/react-query'
import { callKeys } from '../../query-keys.ts'
import { useProject } from '../../session.ts'

/** What is being done to all calls of a set. */
export interface Task {
  set: string
  /** Such as `labeled`. */
  verb: string
  canUndo: boolean
}

/** What was last begun in this tab, until it is dismissed. */
export function useTask() {
  const project = useProject()
  const queryClient = useQueryClient()
  const queryKey = callKeys.task(project.id)
  const { data } = useQuery<Task | null>({ queryKey, queryFn: skipToken, gcTime: Number.POSITIVE_INFINITY })
  return { task: data ?? null, setTask: (task: Task | null) => queryClient.setQueryData(queryKey, task) }
}
