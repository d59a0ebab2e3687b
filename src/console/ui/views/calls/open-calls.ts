import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { createContext, useContext } from 'react'
import type { CallRow } from '../../../../calls/reading/call-rows.ts'
import { to } from '../../components/to.ts'
import { useProject } from '../../session.ts'
import { neighboursQuery, requestCall } from './call-queries.ts'
import type { ChosenFilters, OpenTab } from './chosen-filters.ts'

/** What the open call can do with the list it was opened from. */
interface OpenCalls {
  /** Text that the list was searched for. */
  text: string | undefined
  /** Opens the next or the previous call; null if there is none. */
  openNext: (() => void) | null
  openPrevious: (() => void) | null
  /** Opens a call in place of this one. */
  openCall: (id: string) => void
  close: () => void
}

export const OpenCallsContext = createContext<OpenCalls>({
  text: undefined,
  openNext: null,
  openPrevious: null,
  openCall: () => undefined,
  close: () => undefined,
})

export function useOpenCalls(): OpenCalls {
  return useContext(OpenCallsContext)
}

interface OpenCallOptions {
  openId: string | undefined
  rows: readonly CallRow[]
  /** Whether the first calls of the list are there. */
  isLoaded: boolean
  filters: ChosenFilters
  /** The same as the API takes them. */
  resolvedFilters: ChosenFilters
  tab: OpenTab['tab']
  view: OpenTab['view']
  /** Called with the call that a step has opened. */
  onStep: (id: string) => void
}

/** Opens and closes calls, and knows the ones before and after, also of one that is far down in the list. */
export function useOpenCall({
  openId,
  rows,
  isLoaded,
  filters,
  resolvedFilters,
  tab,
  view,
  onStep,
}: OpenCallOptions) {
  const { id: project } = useProject()
  const navigate = useNavigate()
  const queryClient = useQueryClient()
  const at = rows.findIndex(({ id }) => id === openId)
  const isFar = openId !== undefined && isLoaded && (at < 0 || at === rows.length - 1)
  const { data } = useQuery(neighboursQuery(project, isFar ? openId : undefined, resolvedFilters))
  const far = isFar ? data : undefined
  const show = (id: string, isStep: boolean) => {
    // Sent at once: the router would send it only after the next frame.
    requestCall(queryClient, project, id)
    void navigate({
      ...to.call(id),
      search: { ...filters, tab, view },
      // Moving between calls is one history entry, so going back closes the call.
      replace: isStep,
      resetScroll: false,
    })
  }
  const openCall = (id: string) => {
    show(id, true)
    onStep(id)
  }
  const stepTo = (id: string | null | undefined) =>
    id === null || id === undefined ? null : () => openCall(id)
  return {
    openPrevious: stepTo(at < 0 ? far?.previous : rows[at - 1]?.id),
    openNext: stepTo((at < 0 ? undefined : rows[at + 1]?.id) ?? far?.next),
    openCall,
    open: (id: string) => show(id, false),
    close: () => {
      if (openId === undefined) return
      void navigate({ ...to.calls, search: filters, resetScroll: false })
    },
  }
}
