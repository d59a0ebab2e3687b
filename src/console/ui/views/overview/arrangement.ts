import { queryOptions, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { unwrap } from '../../api.ts'
import { sayNotDone } from '../../components/acts.ts'
import { parseSearch } from '../../search-params.ts'
import { useProject } from '../../session.ts'
import { viewsQuery } from '../calls/view-queries.ts'
import { type ChartSearch, chartSearch } from '../charts/chart-search.ts'

/** A chart of the overview, or one of the cards that are no charts. */
export interface OverviewItem {
  id: string
  name: string
  /** Undefined for a card. */
  search?: ChartSearch
  /** Whether it is left out where no call has what it groups by. */
  isOfSome?: boolean
}

/** What every project's overview has at first. Charts without a date follow its period. */
const defaultItems: readonly OverviewItem[] = [
  { id: 'calls', name: 'Calls', search: { by: 'day,evaluation' } },
  { id: 'durations', name: 'Durations', search: { by: 'duration' } },
  { id: 'end-reasons', name: 'End reasons', search: { by: 'endedReason' } },
  { id: 'cost', name: 'Cost', search: { of: 'costUsd', show: 'sum', by: 'day' } },
  { id: 'latency', name: 'Latency', search: { of: 'latencyMs', show: 'p95', by: 'day' } },
  { id: 'answers', name: 'Answers heard', search: { of: 'responseMs', show: 'p50', by: 'day' } },
  { id: 'criteria', name: 'Criteria passed' },
  {
    id: 'agents',
    name: 'Calls by agent',
    search: { by: 'agentId,evaluation' },
    isOfSome: true,
  },
  {
    id: 'sources',
    name: 'Calls by source',
    search: { by: 'source,evaluation' },
    isOfSome: true,
  },
  { id: 'knowledge', name: 'Knowledge' },
]

/** The ids of the overview's items in order, and of those that are not shown. */
interface Arrangement {
  order: string[]
  hidden: string[]
}

/** The overview as the person has arranged it: the project's defaults and the charts that people have saved. */
export function useArrangement() {
  const { id: project, of } = useProject()
  const queryClient = useQueryClient()
  const { queryKey, queryFn } = viewsQuery(project, 'chart')
  const { data, error, refetch } = useQuery(queryOptions({ queryKey, queryFn }))
  const { data: saved } = useQuery(viewsQuery(project, 'chart'))
  const { order, hidden } = data?.overview ?? { order: [], hidden: [] }
  const all = [
    ...defaultItems,
    ...(saved ?? []).map(({ id, name, query }) => ({ id, name, search: chartSearch(parseSearch(query)) })),
  ]
  const placeOf = ({ id }: OverviewItem) => (order.includes(id) ? order.indexOf(id) : order.length)
  const items = all.toSorted((a, b) => placeOf(a) - placeOf(b))
  const shown = items.filter(({ id }) => !hidden.includes(id))
  const { mutate } = useMutation({
    mutationFn: (overview: Arrangement) => unwrap(of.views.order.put({ overview })),
    onMutate: (overview) => queryClient.setQueryData(queryKey, (before) => before && { ...before, overview }),
    onError: (failure) => sayNotDone('The overview was not arranged', failure),
    onSettled: () => queryClient.invalidateQueries({ queryKey }),
  })
  const ids = items.map(({ id }) => id)
  return {
    shown,
    hidden: items.filter(({ id }) => hidden.includes(id)),
    error: data ? null : error,
    retry: () => void refetch(),
    move: (id: string, by: 1 | -1) => {
      const at = shown.findIndex((item) => item.id === id)
      const other = shown[at + by]
      if (other) mutate({ order: swapped(ids, id, other.id), hidden })
    },
    hide: (id: string) => mutate({ order: ids, hidden: [...hidden, id] }),
    show: (id: string) => mutate({ order: ids, hidden: hidden.filter((other) => other !== id) }),
    reset: () => mutate({ order: [], hidden: [] }),
  }
}

function swapped(ids: readonly string[], one: string, other: string): string[] {
  return ids.map((id) => (id === one ? other : id === other ? one : id))
}
