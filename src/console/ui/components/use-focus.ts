import { type RefObject, useEffect, useRef } from 'react'

/** Focuses an element when it appears, and again whenever `on` changes to a truthy value. */
export function useFocus<Target extends HTMLElement>(on?: unknown): RefObject<Target | null> {
  const target = useRef<Target>(null)
  useEffect(() => {
    if (on !== null && on !== false) target.current?.focus()
  }, [on])
  return target
}
