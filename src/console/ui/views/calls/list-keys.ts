import {
  type FocusEvent,
  type Ref,
  type RefObject,
  useEffect,
  useEffectEvent,
  useImperativeHandle,
  useRef,
  useState,
} from 'react'
import { isShortcut } from '../../components/events.ts'
import type { Selection } from './use-call-list.ts'

export interface CallListHandle {
  /** Focuses a call and scrolls to it. */
  focus: (id: string) => void
  /** Focuses a call that was open, if it is visible. */
  refocus: (id: string) => void
  /** Moves the focus down or up. */
  move: (by: number) => void
  /** The call that has the focus. */
  focused: () => string | undefined
}

interface RowFocusOptions {
  ref: Ref<CallListHandle>
  body: RefObject<HTMLElement | null>
  rows: readonly { id: string }[] | undefined
  openId: string | undefined
  /** The calls in the list. */
  onScreen: readonly string[]
  /** Scrolls to a call. Returns whether the list has it. */
  scrollTo: (id: string) => boolean
}

/** Moves the focus among rows (roving tabindex). */
export function useRowFocus({ ref, body, rows, openId, onScreen, scrollTo }: RowFocusOptions) {
  const [active, setActive] = useState<string | undefined>(openId)
  const [wanted, setWanted] = useState<string | null>(null)
  const focused = () => callOf(document.activeElement)
  const reach = (id: string) => {
    if (body.current?.checkVisibility({ visibilityProperty: true }) && scrollTo(id)) setWanted(id)
  }
  useImperativeHandle(ref, () => ({
    focus: reach,
    refocus: (id) => linkOf(body.current, id)?.focus({ preventScroll: true }),
    move: (by) => {
      const from = focused() ?? active
      const at = rows?.findIndex(({ id }) => id === from) ?? -1
      const row = rows?.[at < 0 ? 0 : at + by]
      if (row) reach(row.id)
    },
    focused,
  }))
  // A hidden row is rendered only after scrolling to it.
  useEffect(() => {
    if (wanted === null) return
    const link = linkOf(body.current, wanted)
    if (!link) return
    link.focus({ preventScroll: true })
    setWanted(null)
  })
  return {
    /** The call that Tab reaches. */
    reached: onScreen.find((id) => id === active) ?? onScreen.find((id) => id === openId) ?? onScreen[0],
    onFocus: ({ target }: FocusEvent) => setActive(callOf(target)),
  }
}

function callOf(element: Element | null): string | undefined {
  return element?.closest<HTMLElement>('[data-call]')?.dataset.call
}

function linkOf(body: HTMLElement | null, id: string): HTMLElement | null {
  return body?.querySelector<HTMLElement>(`[data-call="${CSS.escape(id)}"] a`) ?? null
}

interface CallKeys {
  openId: string | undefined
  listed: RefObject<CallListHandle | null>
  /** The open call, which scrolls. */
  panel: () => HTMLElement | null
  /** Whether the open call is beside the list, not over it. */
  isBeside: () => boolean
  selection: Selection
  /** Opens the next or the previous call. */
  step: (by: 1 | -1) => void
  open: (id: string) => void
  close: () => void
}

/** How much of a screen a page key scrolls. */
const pageShare = 0.9
const byArrow: Record<string, 1 | -1> = { ArrowDown: 1, ArrowUp: -1 }
const byLetter: Record<string, 1 | -1> = { j: 1, k: -1 }

/**
 * The keys of the list. `j` and `k` move, Enter and the arrow to the right open a call and then go into it, Escape comes
 * back, `x` selects, and the page keys read the open call.
 */
export function useCallKeys(keys: CallKeys): void {
  const isForDialog = useRef(false)
  const onKey = useEffectEvent((event: KeyboardEvent) => {
    if (isForDialog.current) return
    if (!isShortcut(event)) return
    const isTaken = event.key === 'Escape' ? goBack(keys) : inList(event, keys) || anywhere(event, keys)
    if (isTaken) event.preventDefault()
  })
  useEffect(() => {
    // Before Escape closes the dialog, whose button may have lost the focus to the page.
    const note = () => {
      isForDialog.current = document.querySelector('[role="dialog"][aria-modal="true"]') !== null
    }
    window.addEventListener('keydown', note, { capture: true })
    window.addEventListener('keydown', onKey)
    return () => {
      window.removeEventListener('keydown', note, { capture: true })
      window.removeEventListener('keydown', onKey)
    }
  }, [])
}

function goBack({ openId, listed, panel, isBeside, selection, close }: CallKeys): boolean {
  const isInside = panel()?.contains(document.activeElement) ?? false
  if (openId !== undefined && isInside && isBeside()) listed.current?.focus(openId)
  else if (openId !== undefined) close()
  else if (selection.ids.size > 0) selection.set([])
  else return false
  return true
}

function anywhere(event: KeyboardEvent, { openId, listed, selection, step }: CallKeys): boolean {
  const by = byLetter[event.key]
  if (by !== undefined) {
    if (openId === undefined) listed.current?.move(by)
    else step(by)
  } else if (event.key === 'x') {
    const id = listed.current?.focused() ?? openId
    if (id !== undefined) selection.toggle(id)
  } else {
    return false
  }
  return true
}

/** With the focus on a row. */
function inList(event: KeyboardEvent, { openId, listed, panel, isBeside, open, step }: CallKeys): boolean {
  const focused = listed.current?.focused()
  if (focused === undefined) return false
  const by = byArrow[event.key]
  if (by !== undefined) {
    if (openId === undefined) listed.current?.move(by)
    else step(by)
    return true
  }
  if (event.key === 'ArrowRight' || (event.key === 'Enter' && focused === openId)) {
    if (focused === openId) panel()?.focus()
    else open(focused)
    return true
  }
  const part = { PageDown: 1, PageUp: -1, ' ': event.shiftKey ? -1 : 1 }[event.key]
  const read = panel()
  if (part === undefined || !read || !isBeside()) return false
  read.scrollBy({ top: part * pageShare * read.clientHeight })
  return true
}
