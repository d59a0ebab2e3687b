import type { MouseEvent } from 'react'

// Lists handle clicks on plain links themselves, because each of the router's links subscribes to its state.

/** The clicked element or its closest ancestor that matches; null if there is none. */
export function closestTarget(event: MouseEvent, selector: string): HTMLElement | null {
  return event.target instanceof Element ? event.target.closest<HTMLElement>(selector) : null
}

/** Whether no modifier key is held. With one, the browser opens the link in a tab or a window. */
export function isPlain({ altKey, ctrlKey, metaKey, shiftKey }: MouseEvent): boolean {
  return !altKey && !ctrlKey && !metaKey && !shiftKey
}
