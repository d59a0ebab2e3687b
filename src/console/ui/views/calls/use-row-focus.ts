import { type FocusEvent, type Ref, type RefObject, useEffect, useImperativeHandle, useState } from 'react'

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
