import { createContext, useContext } from 'react'

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
