import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import type { CallRow } from '../../../../calls/reading/call-rows.ts'
import { useProject } from '../../session.ts'
import { neighboursQuery, requestCall } from './call-queries.ts'
import type { ChosenFilters } from './chosen-filters.ts'
import type { OpenTab } from './open-tab.ts'

interface OpenCallOptions {
  openId: string | undefined
  rows: readonly CallRow[]
  /** Whether the first calls of the list are there. */
  isLoaded: boolean
  filters: ChosenFilters
  /** The same as the API takes them. */
  asked: ChosenFilters
  tab: OpenTab['tab']
  view: OpenTab['view']
  /** Called with the call that a step has opened. */
  onStep: (id: string) => void
}

/** Opens and closes calls, and knows the ones before and after, also of one that is far down in the list. */
export function useOpenCall({ openId, rows, isLoaded, filters, asked, tab, view, onStep }: OpenCallOptions) {
  const { id: project } = useProject()
  const navigate = useNavigate()
  const queryClient = useQueryClient()
  const at = rows.findIndex(({ id }) => id === openId)
  const isFar = openId !== undefined && isLoaded && (at < 0 || at === rows.length - 1)
  const { data } = useQuery(neighboursQuery(project, isFar ? openId : undefined, asked))
  const far = isFar ? data : undefined
  const show = (id: string, isStep: boolean) => {
    // Sent at once: the router would send it only after the next frame.
    requestCall(queryClient, project, id)
    void navigate({
      to: '/p/$project/calls/$call',
      params: { project, call: id },
      search: { ...filters, tab, view },
      // Moving between calls is one history entry, so going back closes the call.
      replace: isStep,
      resetScroll: false,
    })
  }
  const stepTo = (id: string | null | undefined) => {
    if (id === null || id === undefined) return null
    return () => {
      show(id, true)
      onStep(id)
    }
  }
  return {
    openPrevious: stepTo(at < 0 ? far?.previous : rows[at - 1]?.id),
    openNext: stepTo((at < 0 ? undefined : rows[at + 1]?.id) ?? far?.next),
    open: (id: string) => show(id, false),
    close: () => {
      if (openId === undefined) return
      void navigate({
        to: '/p/$project/calls',
        params: { project },
        search: filters,
        resetScroll: false,
      })
    },
  }
}
