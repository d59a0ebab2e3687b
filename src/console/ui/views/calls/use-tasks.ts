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

/** What was begun in this tab and is not dismissed, the last one at the end. */
export function useTasks() {
  const project = useProject()
  const queryClient = useQueryClient()
  const queryKey = callKeys.task(project.id)
  const { data = [] } = useQuery<Task[]>({ queryKey, queryFn: skipToken, gcTime: Number.POSITIVE_INFINITY })
  const change = (to: (tasks: Task[]) => Task[]) =>
    queryClient.setQueryData<Task[]>(queryKey, (tasks = []) => to(tasks))
  return {
    tasks: data,
    begin: (task: Task) => change((tasks) => [...tasks, task]),
    end: (set: string) => change((tasks) => tasks.filter((task) => task.set !== set)),
  }
}
