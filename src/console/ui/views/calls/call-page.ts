import { createContext, type RefObject, use } from 'react'
import type { Call } from '../../../../calls/schemas.ts'
import type { ShownDetails } from '../../../call-routes.ts'
import type { CallTrack, Waveform } from './call-track.ts'
import type { Clock } from './clock.ts'
import type { Line } from './conversation.ts'
import type { Places, TurnSearch } from './use-places.ts'

/** What plays of a call. */
export interface Sound {
  /** Where it is: here, or where the platform keeps it. */
  path: string
  /** Whether the service keeps it. */
  isKept: boolean
  /** Null until it is known, and if it has none. */
  waveform: Waveform | null
}

/** The field that is open to write in. */
export interface NotesField {
  field: 'labels' | 'note' | null
  open: (field: 'labels' | 'note') => void
  /** Closed by key, it gives the focus back to what had it. */
  close: (how?: { isByKey?: boolean }) => void
}

/** Where the facts of a call are. */
export interface Rail {
  /** Whether there is room for them beside the conversation. */
  isWide: boolean
  /** Whether they are there. */
  isBeside: boolean
  isOpen: boolean
  toggle: () => void
}

/** The call that is open, for all parts of its page. */
export interface CallPage {
  call: Call
  /** Undefined when they could not be loaded. */
  details: ShownDetails | undefined
  lines: readonly Line[]
  /** Null if nothing of it can be played. */
  sound: Sound | null
  track: CallTrack
  clock: Clock
  search: TurnSearch
  places: Places
  rail: Rail
  notes: NotesField
  /** The element that scrolls. */
  panel: RefObject<HTMLElement | null>
}

export const CallPageContext = createContext<CallPage | null>(null)

/** The open call, for whatever is below its page. */
export function useCallPage(): CallPage {
  const page = use(CallPageContext)
  if (!page) throw new Error('No call is open')
  return page
}
