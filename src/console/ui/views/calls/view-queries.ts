import { queryOptions, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { api, read, unwrap } from '../../api.ts'
import { parseSearch } from '../../search-params.ts'
import { sessionQuery, useProject } from '../../session.ts'
import { type ChosenFilters, readFilters } from './chosen-filters.ts'

/** The saved views, or the kept charts, that the person sees. */
export function viewsQuery(project: string, page: 'calls' | 'chart') {
  return queryOptions({
    ...read(api.projects({ project }).views),
    select: ({ data }) => data.filter((view) => view.page === page),
  })
}

/** The filters of a saved view. */
export function savedFilters(query: string): ChosenFilters {
  return readFilters(parseSearch(query))
}

/** Renames, orders and deletes saved views. The navigation knows the one that the list begins with. */
export function useViewChanges() {
  const project = useProject()
  const queryClient = useQueryClient()
  const stored = project.of.views
  const { data: views = [] } = useQuery(viewsQuery(project.id, 'calls'))
  const refresh = async () => {
    await queryClient.invalidateQueries(read(stored))
    await queryClient.invalidateQueries({ queryKey: sessionQuery.queryKey })
  }
  const change = useMutation({
    mutationFn: async (what: ViewChange) => {
      if (what.kind === 'delete') return await unwrap(stored({ id: what.id }).delete())
      if (what.kind === 'rename') return await unwrap(stored({ id: what.id }).patch({ name: what.name }))
      const ids = views.map(({ id }) => id)
      const first = views.find(({ isFirst }) => isFirst)?.id ?? null
      return what.kind === 'first'
        ? await unwrap(stored.order.put({ order: ids, first: what.id }))
        : await unwrap(stored.order.put({ order: moved(ids, what.id, what.by), first }))
    },
    onSettled: refresh,
  })
  return { views, refresh, change: change.mutate, error: change.error }
}

type ViewChange =
  | { kind: 'rename'; id: string; name: string }
  | { kind: 'delete'; id: string }
  | { kind: 'move'; id: string; by: 1 | -1 }
  /** Which view the list begins with; null for all calls. */
  | { kind: 'first'; id: string | null }

function moved(ids: readonly string[], id: string, by: 1 | -1): string[] {
  const at = ids.indexOf(id)
  const others = ids.filter((other) => other !== id)
  return others.toSpliced(Math.max(0, at + by), 0, id)
}
