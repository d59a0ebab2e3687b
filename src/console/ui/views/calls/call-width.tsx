import { useLocalStorage } from '@mantine/hooks'
import type { KeyboardEvent, PointerEvent, RefObject } from 'react'
import classes from './call.module.css'

/** As in call.module.css, which also leaves room for the list. */
const widthPxMin = 440
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
  const widthNow = () => panel.current?.offsetWidth ?? 0
  const resize = (px: number) =>
    panel.current?.style.setProperty('--cb-call-width', `${Math.max(widthPxMin, Math.round(px))}px`)
  const onPointerMove = ({ currentTarget, pointerId, clientX }: PointerEvent<HTMLElement>) => {
    if (!currentTarget.hasPointerCapture(pointerId) || !panel.current) return
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
      aria-valuenow={widthNow() || widthPxMin}
      className={classes.widthHandle}
      onPointerDown={(event) => {
        event.preventDefault()
        event.currentTarget.setPointerCapture(event.pointerId)
      }}
      onPointerMove={onPointerMove}
      onPointerUp={() => onWidth(widthNow())}
      onKeyDown={onKeyDown}
    />
  )
}
