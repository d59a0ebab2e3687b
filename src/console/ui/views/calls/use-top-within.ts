import { type RefObject, useLayoutEffect, useState } from 'react'

/** An element's offset within the scrolling element, in px. */
export function useTopWithin(element: RefObject<HTMLElement | null>, scroller: HTMLElement | null): number {
  const [top, setTop] = useState(0)
  useLayoutEffect(() => {
    const inner = element.current
    if (!inner || !scroller) return
    const measure = () => {
      const distance = inner.getBoundingClientRect().top - scroller.getBoundingClientRect().top
      setTop(Math.round(distance + scroller.scrollTop))
    }
    measure()
    const observer = new ResizeObserver(measure)
    for (const child of scroller.children) observer.observe(child)
    return () => observer.disconnect()
  }, [element, scroller])
  return top
}
