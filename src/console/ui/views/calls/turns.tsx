import { useVirtualizer } from '@tanstack/react-virtual'
import {
  type ComponentProps,
  type RefObject,
  useEffect,
  useEffectEvent,
  useLayoutEffect,
  useRef,
  useState,
} from 'react'
import { useCallPage } from './call-page.ts'
import type { Line } from './conversation.ts'
import classes from './transcript.module.css'
import { useTopWithin } from './use-top-within.ts'

const turnPx = 44

interface TurnsProps {
  itemOf: (line: Line, index: number) => ComponentProps<'li'>
  /** The turn under the playhead, which the list follows. */
  heard: number | null
  /** What the list does for the buttons and links within. */
  delegated: Pick<ComponentProps<'ol'>, 'onClick'>
}

/** Renders all turns. */
export function WholeTurns({ itemOf, heard, delegated }: TurnsProps) {
  const { lines } = useCallPage()
  const list = useRef<HTMLOListElement>(null)
  useScrollToTurn(heard, list, (at, isFollowed) =>
    list.current?.children[at]?.scrollIntoView({ block: isFollowed ? 'nearest' : 'center' }),
  )
  return (
    <ol ref={list} className={classes.turns} {...delegated}>
      {Object.entries(lines).map(([place, line]) => (
        <li key={place} {...itemOf(line, Number(place))} />
      ))}
    </ol>
  )
}

/** Renders only the visible turns. */
export function VirtualTurns({ itemOf, heard, delegated }: TurnsProps) {
  const { lines } = useCallPage()
  const list = useRef<HTMLOListElement>(null)
  /** The element that scrolls. */
  const [panel, setPanel] = useState<HTMLElement | null>(null)
  useLayoutEffect(() => setPanel(list.current?.closest<HTMLElement>('#call') ?? null), [])
  const top = useTopWithin(list, panel)
  const virtual = useVirtualizer({
    count: lines.length,
    getScrollElement: () => panel,
    estimateSize: () => turnPx,
    scrollMargin: top,
    overscan: 12,
    // Half the height of the bar, timeline, tabs and search, which stay on top: turns are centered below them.
    scrollPaddingStart: 110,
  })
  useScrollToTurn(
    heard,
    list,
    panel && ((at, isFollowed) => virtual.scrollToIndex(at, { align: isFollowed ? 'auto' : 'center' })),
  )
  return (
    <ol
      ref={list}
      className={classes.turns}
      data-virtual
      style={{ height: virtual.getTotalSize() }}
      {...delegated}
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

/**
 * Scrolls to the current match, to the turn in the address, to a line that the timeline leads to, and along with the
 * playhead. @param scrollTo null while the list cannot scroll yet
 */
function useScrollToTurn(
  heard: number | null,
  list: RefObject<HTMLElement | null>,
  scrollTo: ((index: number, isFollowed: boolean) => void) | null,
): void {
  const { lines, search, places } = useCallPage()
  const placeOf = (turn: number) => lines.findIndex((line) => 'turn' in line && line.index === turn)
  const reveal = useEffectEvent((turn: number, isMatch: boolean) => {
    // The match itself, where it is rendered: its turn may be longer than the screen.
    const match = isMatch ? list.current?.querySelector('mark[data-current]') : null
    if (match) return match.scrollIntoView({ block: 'center' })
    const at = placeOf(turn)
    if (at >= 0) scrollTo?.(at, false)
  })
  const isReady = scrollTo !== null
  // Also when the same match or turn is requested again, but not when a live call grows.
  const { turn: foundTurn, start } = search.matches?.[search.position] ?? {}
  useEffect(() => {
    if (isReady && foundTurn !== undefined && start !== undefined && search.jump >= 0) reveal(foundTurn, true)
  }, [isReady, foundTurn, start, search.jump])
  const { turn, jump } = places.target ?? {}
  useEffect(() => {
    if (isReady && turn !== undefined && jump !== undefined) reveal(turn, false)
  }, [isReady, turn, jump])
  const { line, jump: lineJump } = places.line ?? {}
  const reach = useEffectEvent((place: number) => scrollTo?.(place, false))
  useEffect(() => {
    if (isReady && line !== undefined && lineJump !== undefined) reach(line)
  }, [isReady, line, lineJump])
  const before = useRef<number | null>(null)
  const follow = useEffectEvent((next: number) => {
    const last = before.current
    before.current = next
    // What was searched for and the turn in the address go first.
    if (last === null && (foundTurn ?? turn) !== undefined) return
    const isNext = last !== null && Math.abs(next - last) === 1
    // A reader who has scrolled away is left there, until another part is played.
    if (!isNext || isInView(list.current?.querySelector(`[data-index="${placeOf(last)}"]`)))
      scrollTo?.(placeOf(next), isNext)
  })
  useEffect(() => {
    if (isReady && heard !== null) follow(heard)
  }, [isReady, heard])
}

function isInView(element: Element | null | undefined): boolean {
  if (!element) return false
  const { top, bottom } = element.getBoundingClientRect()
  return bottom > 0 && top < window.innerHeight
}
