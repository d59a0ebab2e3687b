import { type MouseEvent, useEffect, useEffectEvent } from 'react'

/** Whether a key press belongs to a field or a dialog, so that no shortcut takes it. */
export function isTyping({ target, key }: KeyboardEvent): boolean {
  if (!(target instanceof HTMLElement)) return false
  if (target.isContentEditable || target.closest('[role="dialog"], [role="menu"], [role="listbox"]'))
    return true
  // Letters do nothing in them.
  if (target.matches('[type="checkbox"], [type="radio"]')) return key === ' ' || key.startsWith('Arrow')
  return /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName)
}

/** Whether a key press can be a shortcut: it has no modifier, and is not in a field or a dialog. */
export function isShortcut(event: KeyboardEvent): boolean {
  return !(event.metaKey || event.ctrlKey || event.altKey || event.defaultPrevented || isTyping(event))
}

/** Keys that repeat while they are held. The others act once, since another call may be shown by then. */
const heldKeys = [',', '.', 't', 'z', 'c']

/** Shortcuts of a page. */
export function useKeys(keys: Record<string, () => void>): void {
  const onKey = useEffectEvent((event: KeyboardEvent) => {
    const act = Object.hasOwn(keys, event.key) ? keys[event.key] : undefined
    if (!act || !isShortcut(event)) return
    event.preventDefault()
    if (!event.repeat || heldKeys.includes(event.key)) act()
  })
  useEffect(() => {
    window.addEventListener('keydown', onKey)
    return () => window.removeEventListener('keydown', onKey)
  }, [])
}

// Lists handle clicks on plain links themselves, because each of the router's links subscribes to its state.

/** The clicked element or its closest ancestor that matches; null if there is none. */
export function closestTarget(event: MouseEvent, selector: string): HTMLElement | null {
  return event.target instanceof Element ? event.target.closest<HTMLElement>(selector) : null
}

/** Whether no modifier key is held. With one, the browser opens the link in a tab or a window. */
export function isPlain({ altKey, ctrlKey, metaKey, shiftKey }: MouseEvent): boolean {
  return !altKey && !ctrlKey && !metaKey && !shiftKey
}
