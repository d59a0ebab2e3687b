import { type RefObject, useLayoutEffect, useState } from 'react'

/** Where an element begins within what scrolls, in px. */
export function useTopWithin(
  element: RefObject<HTMLElement | null>,
  scroller: RefObject<HTMLElement | null>,
): number {
  const [top, setTop] = useState(0)
  useLayoutEffect(() => {
    const [inner, outer] = [element.current, scroller.current]
    if (!inner || !outer) return
    const measure = () => {
      const distance = inner.getBoundingClientRect().top - outer.getBoundingClientRect().top
      setTop(Math.round(distance + outer.scrollTop))
    }
    measure()
    const observer = new ResizeObserver(measure)
    for (const child of outer.children) observer.observe(child)
    return () => observer.disconnect()
  }, [element, scroller])
  return top
}
