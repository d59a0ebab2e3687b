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
import type { Line } from './conversation.ts'
import classes from './transcript.module.css'
import type { TurnMatch } from './turn-matches.ts'
import { useTopWithin } from './use-top-within.ts'

const turnPx = 44

/** The turn in the URL; `jump` counts how often it was requested. */
export interface Target {
  turn: number
  jump: number
}

/** A line of the transcript; `jump` counts as above. */
export interface TargetLine {
  line: number
  jump: number
}

interface TurnsProps {
  lines: readonly Line[]
  itemOf: (line: Line, index: number) => ComponentProps<'li'>
  /** The current match, which is scrolled to, as is the target. */
  found: TurnMatch | undefined
  /** Counts how often a match was requested. */
  foundJump: number
  target: Target | null
  shownLine: TargetLine | null
  /** The turn that is heard, which the list follows. */
  heard: number | null
  /** What the list does for the buttons and links within. */
  delegated: Pick<ComponentProps<'ol'>, 'onClick'>
}

/** Renders all turns. */
export function WholeTurns({ lines, itemOf, delegated, ...shown }: TurnsProps) {
  const list = useRef<HTMLOListElement>(null)
  useScrollToTurn({ lines, ...shown }, list, (at, isFollowed) =>
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
export function VirtualTurns({ lines, itemOf, delegated, ...shown }: TurnsProps) {
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
    { lines, ...shown },
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

/** Scrolls to the current match, and to the turn in the URL. @param scrollTo null while the list cannot scroll yet */
function useScrollToTurn(
  {
    lines,
    found,
    foundJump,
    target,
    shownLine,
    heard,
  }: Pick<TurnsProps, 'lines' | 'found' | 'foundJump' | 'target' | 'shownLine' | 'heard'>,
  list: RefObject<HTMLElement | null>,
  scrollTo: ((index: number, isFollowed: boolean) => void) | null,
): void {
  const reveal = useEffectEvent((turn: number, isMatch: boolean) => {
    // The match itself, where it is rendered: its turn may be longer than the screen.
    const match = isMatch ? list.current?.querySelector('mark[data-current]') : null
    if (match) return match.scrollIntoView({ block: 'center' })
    const at = placeOf(turn)
    if (at >= 0) scrollTo?.(at, false)
  })
  const placeOf = (turn: number) => lines.findIndex((line) => 'turn' in line && line.index === turn)
  const isReady = scrollTo !== null
  // Also when the same match or turn is requested again, but not when a live call grows.
  const { turn: foundTurn, start } = found ?? {}
  useEffect(() => {
    if (isReady && foundTurn !== undefined && start !== undefined && foundJump >= 0) reveal(foundTurn, true)
  }, [isReady, foundTurn, start, foundJump])
  const { turn, jump } = target ?? {}
  useEffect(() => {
    if (isReady && turn !== undefined && jump !== undefined) reveal(turn, false)
  }, [isReady, turn, jump])
  const { line: shown, jump: shownJump } = shownLine ?? {}
  const reach = useEffectEvent((line: number) => scrollTo?.(line, false))
  useEffect(() => {
    if (isReady && shown !== undefined && shownJump !== undefined) reach(shown)
  }, [isReady, shown, shownJump])
  const before = useRef<number | null>(null)
  const follow = useEffectEvent((next: number) => {
    const last = before.current
    before.current = next
    // A reader who has scrolled away is left there, until another part is played.
    const isNext = last !== null && Math.abs(next - last) === 1
    if (!isNext || isInView(list.current?.querySelector(`[data-index="${placeOf(last)}"]`)))
      scrollTo?.(placeOf(next), true)
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
