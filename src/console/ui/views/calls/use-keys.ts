import { useEffect, useEffectEvent } from 'react'
import { isTyping } from '../../components/events.ts'

/** Keys that repeat while they are held. The others act once, since another call may be shown by then. */
const heldKeys = [',', '.', 't', 'z', 'c']

/** Shortcuts outside fields. */
export function useKeys(keys: Record<string, () => void>): void {
  const onKey = useEffectEvent((event: KeyboardEvent) => {
    if (event.metaKey || event.ctrlKey || event.altKey || event.defaultPrevented || isTyping(event)) return
    const act = Object.hasOwn(keys, event.key) ? keys[event.key] : undefined
    if (!act) return
    event.preventDefault()
    if (!event.repeat || heldKeys.includes(event.key)) act()
  })
  useEffect(() => {
    window.addEventListener('keydown', onKey)
    return () => window.removeEventListener('keydown', onKey)
  }, [])
}
