import { type RefObject, useEffect, useMemo, useRef, useState } from 'react'

/** Focuses an element when it appears, and again whenever `on` changes to a truthy value. */
export function useFocus<Target extends HTMLElement>(on?: unknown): RefObject<Target | null> {
  const target = useRef<Target>(null)
  useEffect(() => {
    if (on !== null && on !== false) target.current?.focus()
  }, [on])
  return target
}

/** A dialog that is rendered only while it is open. Closing it returns the focus. */
export function useDialog(): [isOpen: boolean, dialog: { open: () => void; close: () => void }] {
  const [isOpen, setOpen] = useState(false)
  const before = useRef<HTMLElement>(null)
  useEffect(() => {
    if (isOpen) return
    before.current?.focus({ preventScroll: true })
    before.current = null
  }, [isOpen])
  const dialog = useMemo(() => {
    const open = () => {
      // It may be open already: the palette's shortcut works in the palette.
      before.current ??= focusedOrMenu()
      setOpen(true)
    }
    return { open, close: () => setOpen(false) }
  }, [])
  return [isOpen, dialog]
}

/** The focused element; in a menu, whose items are removed when it closes, the menu's button. */
export function focusedOrMenu(): HTMLElement | null {
  const { activeElement } = document
  const menu = activeElement?.closest('[role="menu"]')
  if (menu) return document.getElementById(menu.getAttribute('aria-labelledby') ?? '')
  return activeElement instanceof HTMLElement ? activeElement : null
}
