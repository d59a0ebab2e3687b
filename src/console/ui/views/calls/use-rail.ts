import { useLocalStorage } from '@mantine/hooks'
import { type RefObject, useLayoutEffect, useState } from 'react'
import { useKeys } from './use-keys.ts'

/** From this width on, facts stand beside the conversation. */
const besideFromPx = 820

/** Where the facts of a call are. */
export interface Rail {
  /** Whether there is room for them beside the conversation. */
  isWide: boolean
  /** Whether they are there. */
  isBeside: boolean
  isOpen: boolean
  toggle: () => void
}

/** Whether the facts are open. Beside the conversation that is remembered; above it, where they push it away, it is not. */
export function useRail(panel: RefObject<HTMLElement | null>): Rail {
  const isWide = useIsWide(panel)
  const [isOpenBeside, setIsOpenBeside] = useLocalStorage({
    key: 'callbook-call-rail',
    defaultValue: true,
    getInitialValueInEffect: false,
  })
  const [isOpenAbove, setIsOpenAbove] = useState(false)
  const isOpen = isWide ? isOpenBeside : isOpenAbove
  const toggle = () => (isWide ? setIsOpenBeside : setIsOpenAbove)(!isOpen)
  useKeys({ i: toggle })
  return { isWide, isBeside: isWide && isOpen, isOpen, toggle }
}

function useIsWide(panel: RefObject<HTMLElement | null>): boolean {
  const [isWide, setIsWide] = useState(false)
  useLayoutEffect(() => {
    const element = panel.current
    if (!element) return
    const measure = () => setIsWide(element.clientWidth >= besideFromPx)
    // Before the first paint, so that nothing moves.
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    return () => observer.disconnect()
  }, [panel])
  return isWide
}
