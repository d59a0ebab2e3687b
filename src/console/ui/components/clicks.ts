import type { MouseEvent } from 'react'

// Lists take the clicks on their links themselves: hundreds of the router's would each listen for its every change.

/** What a click has hit, or what that stands in. */
export function hit(event: MouseEvent, selector: string): HTMLElement | null {
  return event.target instanceof Element ? event.target.closest<HTMLElement>(selector) : null
}

/** Whether a click on a link goes there; any other is the browser's, and opens a tab or a window. */
export function isPlain({ altKey, ctrlKey, metaKey, shiftKey }: MouseEvent): boolean {
  return !altKey && !ctrlKey && !metaKey && !shiftKey
}
