import { useNavigate } from '@tanstack/react-router'
import { useProject } from '../../session.ts'
import { type ChosenFilters, type FilterChange, readFilters } from './chosen-filters.ts'

/** Changes and clears the filters in the URL. Both close the open call. */
export function useFiltering(filters: ChosenFilters) {
  const { id } = useProject()
  const navigate = useNavigate()
  const go = (search: ChosenFilters, replace: boolean) =>
    void navigate({ to: '/p/$project/calls', params: { project: id }, search, replace })
  return {
    /** @param isPause for a pause in typing */
    filter: (change: FilterChange, isPause = false) => {
      const next = readFilters({ ...filters, ...change })
      // Continued typing is one history entry.
      go(next, isPause && filters.text !== undefined && next.text !== undefined)
    },
    clear: () => go({}, false),
  }
}
