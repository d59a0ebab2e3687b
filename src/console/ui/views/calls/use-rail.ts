import { useLocalStorage } from '@mantine/hooks'
import { type RefObject, useLayoutEffect, useState } from 'react'
import { useRefusal } from '../../session.ts'
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
  /** The field that asked for the rail to open. */
  focus: 'labels' | 'note' | null
}

/** Whether the facts are open: remembered for wide panels, where they begin open, and for narrow ones. */
export function useRail(panel: RefObject<HTMLElement | null>): Rail {
  const isWide = useIsWide(panel)
  const [isOpenBeside, setIsOpenBeside] = useStored('callbook-call-rail', true)
  const [isOpenAbove, setIsOpenAbove] = useStored('callbook-call-details', false)
  const [focus, setFocus] = useState<Rail['focus']>(null)
  const isOpen = isWide ? isOpenBeside : isOpenAbove
  const setIsOpen = isWide ? setIsOpenBeside : setIsOpenAbove
  const openAt = (field: Rail['focus']) => () => {
    setFocus(field)
    setIsOpen(true)
  }
  const toggle = () => {
    setFocus(null)
    setIsOpen(!isOpen)
  }
  const mayWrite = useRefusal('change') === null
  useKeys({ i: toggle, ...(mayWrite && !isOpen && { l: openAt('labels'), n: openAt('note') }) })
  return { isWide, isBeside: isWide && isOpen, isOpen, toggle, focus }
}

function useStored(key: string, defaultValue: boolean) {
  return useLocalStorage({ key, defaultValue, getInitialValueInEffect: false })
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
