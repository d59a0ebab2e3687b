import { notifications } from '@mantine/notifications'
import { queryOptions, skipToken, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { api, read, unwrap } from '../../api.ts'
import { sayNotDone } from '../../components/acts.ts'
import { to } from '../../components/to.ts'
import { stringifySearch } from '../../search-params.ts'
import { useProject } from '../../session.ts'
import { neighboursKey, neighboursQuery, unreviewedQuery } from './call-queries.ts'
import type { ChosenFilters } from './chosen-filters.ts'

/** The person's queues of reviews, and how far each is. The change feed reloads them. */
export function queuesQuery(project: string) {
  return queryOptions({
    ...read(api.projects({ project })['call-sets']),
    select: ({ data }) => data,
  })
}

/** A queue, as soon as it is known. */
export function useQueue(id: string | undefined) {
  const project = useProject()
  const { data } = useQuery({ ...queuesQuery(project.id), enabled: id !== undefined })
  return data?.find((queue) => queue.id === id)
}

/** Goes through a queue: opens a call of it, and the next one that nobody has reviewed. */
export function useQueueSteps() {
  const project = useProject()
  const navigate = useNavigate()
  const queryClient = useQueryClient()
  const { call: openId } = useParams({ strict: false })
  const { set } = useSearch({ strict: false })
  const open = (call: string, filters: ChosenFilters) =>
    navigate({
      ...to.call(call),
      search: filters,
      // The calls of a queue are one history entry, so going back leads to where the queue was begun.
      replace: openId !== undefined && set === filters.set,
      resetScroll: false,
    })
  return {
    /** Opens the first call that nobody has reviewed, or the list when there is none. */
    begin: async (filters: ChosenFilters) => {
      const query = { ...unreviewedQuery(project.id, filters), staleTime: 0 }
      try {
        const { data } = await queryClient.fetchQuery(query)
        if (data[0]) return await open(data[0].id, filters)
        return await navigate({ ...to.calls, search: filters })
      } catch (error) {
        sayNotDone('The next call could not be opened', error)
      }
    },
    /** Forgets what was next of other calls, since this one is judged now. */
    forgetNext: () => queryClient.removeQueries({ queryKey: neighboursKey(project.id), type: 'inactive' }),
    /** The call after this one that nobody has reviewed; null at the end. Known before it is asked for. */
    next: async (id: string, filters: ChosenFilters): Promise<string | null> => {
      const query = neighboursQuery(project.id, id, { ...filters, reviewed: 'false' })
      return (await queryClient.fetchQuery({ ...query, staleTime: Number.POSITIVE_INFINITY })).next
    },
  }
}

/** The calls of a queue that the person has judged in this tab, the last one at the end. */
export function useJudged(set: string | undefined) {
  const project = useProject()
  const queryClient = useQueryClient()
  const queryKey = ['judged calls', project.id, set]
  const { data = [] } = useQuery<string[]>({ queryKey, queryFn: skipToken, gcTime: Number.POSITIVE_INFINITY })
  return { judged: data, setJudged: (ids: string[]) => queryClient.setQueryData(queryKey, ids) }
}

/** Freezes calls as a queue, and opens the first. */
export function useStartQueue() {
  const project = useProject()
  const queryClient = useQueryClient()
  const { begin } = useQueueSteps()
  return useMutation({
    mutationFn: async ({ order, ...asked }: NewQueue) => {
      const { filters, ids, name } = asked
      const calls = ids ? { ids: [...ids] } : { query: stringifySearch({ ...filters, order }) || '?' }
      const set = await unwrap(project.of['call-sets'].post({ name, ...calls }))
      await queryClient.invalidateQueries({ queryKey: queuesQuery(project.id).queryKey })
      if (set.isCapped)
        notifications.show({ message: `The queue has the first ${set.ids.length} of these calls.` })
      await begin({ set: set.id, ...(order === undefined ? {} : { order }) })
    },
  })
}

interface NewQueue {
  name: string
  /** The filters of the list, as the API takes them; without ids. */
  filters?: ChosenFilters
  order?: string | undefined
  ids?: Iterable<string>
}
