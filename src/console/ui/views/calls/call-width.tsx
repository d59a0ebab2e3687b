import { useLocalStorage } from '@mantine/hooks'
import { type KeyboardEvent, type PointerEvent, type RefObject, useEffect, useRef, useState } from 'react'
import classes from './call.module.css'

/** As in call.module.css: the least of the call, and of the list beside it. */
const widthPxMin = 440
const listPxMin = 360
const stepPx = 32

/** The width of the panel beside the list, in px; undefined until a person has chosen one. */
export function useCallWidth() {
  return useLocalStorage<number | undefined>({
    key: 'callbook-call-width',
    getInitialValueInEffect: false,
  })
}

interface WidthHandleProps {
  panel: RefObject<HTMLElement | null>
  onWidth: (px: number) => void
}

/** The edge between the list and the call, to drag. */
export function WidthHandle({ panel, onWidth }: WidthHandleProps) {
  const { now, max } = useRange(panel)
  const startX = useRef(0)
  const widthNow = () => panel.current?.offsetWidth ?? 0
  const resize = (px: number) =>
    panel.current?.style.setProperty('--cb-call-width', `${Math.max(widthPxMin, Math.round(px))}px`)
  const onPointerMove = ({ currentTarget, pointerId, clientX }: PointerEvent<HTMLElement>) => {
    if (!currentTarget.hasPointerCapture(pointerId) || !panel.current || clientX === startX.current) return
    resize(panel.current.getBoundingClientRect().right - clientX)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const by = { ArrowLeft: stepPx, ArrowRight: -stepPx }[event.key]
    if (by === undefined) return
    event.preventDefault()
    resize(widthNow() + by)
    onWidth(widthNow())
  }
  return (
    <hr
      tabIndex={0}
      aria-orientation="vertical"
      aria-label="Width of the call"
      aria-valuemin={widthPxMin}
      aria-valuemax={max}
      aria-valuenow={now}
      className={classes.widthHandle}
      onPointerDown={(event) => {
        event.preventDefault()
        startX.current = event.clientX
        event.currentTarget.setPointerCapture(event.pointerId)
      }}
      onPointerMove={onPointerMove}
      // A mere click chooses no width.
      onPointerUp={({ clientX }) => clientX !== startX.current && onWidth(widthNow())}
      onKeyDown={onKeyDown}
    />
  )
}

/** The width of the panel, and the most that it can have. */
function useRange(panel: RefObject<HTMLElement | null>) {
  const [range, setRange] = useState({ now: widthPxMin, max: widthPxMin })
  useEffect(() => {
    const element = panel.current
    const parent = element?.parentElement
    if (!element || !parent) return
    const observer = new ResizeObserver(() =>
      setRange({ now: element.offsetWidth, max: Math.max(widthPxMin, parent.clientWidth - listPxMin) }),
    )
    for (const one of [element, parent]) observer.observe(one)
    return () => observer.disconnect()
  }, [panel])
  return range
}
