import { type RefObject, useEffect, useRef } from 'react'

/** Gives an element the focus when it appears, and again whenever `on` changes to something. */
export function useFocus<Target extends HTMLElement>(on?: unknown): RefObject<Target | null> {
  const target = useRef<Target>(null)
  useEffect(() => {
    if (on !== null && on !== false) target.current?.focus()
  }, [on])
  return target
}
