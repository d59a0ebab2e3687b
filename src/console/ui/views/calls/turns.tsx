import { useVirtualizer } from '@tanstack/react-virtual'
import {
  type ComponentProps,
  type MouseEvent,
  useEffect,
  useEffectEvent,
  useLayoutEffect,
  useRef,
  useState,
} from 'react'
import type { Line } from './conversation.ts'
import type { TurnMatch } from './turn-matches.ts'
import { useTopWithin } from './use-top-within.ts'

const turnPx = 64

/** The turn in the URL; `jump` counts how often it was requested. */
export interface Target {
  turn: number
  jump: number
}

interface TurnsProps {
  lines: readonly Line[]
  itemOf: (line: Line, index: number) => ComponentProps<'li'>
  /** The current match, which is scrolled to, as is the target. */
  found: TurnMatch | undefined
  target: Target | null
  onClick: (event: MouseEvent) => void
}

/** All turns, one below the other. */
export function WholeTurns({ lines, itemOf, onClick, ...shown }: TurnsProps) {
  const list = useRef<HTMLOListElement>(null)
  useScrollToTurn(lines, { ...shown, isReady: true }, (at) =>
    list.current?.children[at]?.scrollIntoView({ block: 'center' }),
  )
  return (
    <ol ref={list} className="cb-turns" {...{ onClick }}>
      {Object.entries(lines).map(([place, line]) => (
        <li key={place} {...itemOf(line, Number(place))} />
      ))}
    </ol>
  )
}

/** The turns in sight, of thousands. */
export function VirtualTurns({ lines, itemOf, onClick, ...shown }: TurnsProps) {
  const list = useRef<HTMLOListElement>(null)
  /** The element that scrolls. */
  const [panel, setPanel] = useState<HTMLElement | null>(null)
  useLayoutEffect(() => setPanel(list.current?.closest<HTMLElement>('.cb-call') ?? null), [])
  const top = useTopWithin(list, panel)
  const virtual = useVirtualizer({
    count: lines.length,
    getScrollElement: () => panel,
    estimateSize: () => turnPx,
    scrollMargin: top,
    overscan: 12,
    // Bar, tabs and search stay on top.
    scrollPaddingStart: 144,
    scrollPaddingEnd: 48,
  })
  useScrollToTurn(lines, { ...shown, isReady: panel !== null }, (at) =>
    virtual.scrollToIndex(at, { align: 'center' }),
  )
  return (
    <ol
      ref={list}
      className="cb-turns"
      data-virtual
      style={{ height: virtual.getTotalSize() }}
      {...{ onClick }}
    >
      {virtual.getVirtualItems().map(({ index, key, start }) => {
        const line = lines[index]
        return (
          line && (
            <li
              key={key}
              ref={virtual.measureElement}
              aria-setsize={lines.length}
              aria-posinset={index + 1}
              style={{ transform: `translateY(${start - top}px)` }}
              {...itemOf(line, index)}
            />
          )
        )
      })}
    </ol>
  )
}

/** Scrolls to the current match, and to the turn in the URL. */
function useScrollToTurn(
  lines: readonly Line[],
  { isReady, found, target }: Pick<TurnsProps, 'found' | 'target'> & { isReady: boolean },
  scrollTo: (index: number) => void,
): void {
  const reveal = useEffectEvent((turn: number) => {
    const at = lines.findIndex((line) => 'turn' in line && line.index === turn)
    if (at >= 0) scrollTo(at)
  })
  useEffect(() => {
    if (isReady && found) reveal(found.turn)
  }, [isReady, found])
  const { turn, jump } = target ?? {}
  useEffect(() => {
    // Also when the same turn is requested again.
    if (isReady && turn !== undefined && jump !== undefined) reveal(turn)
  }, [isReady, turn, jump])
}
