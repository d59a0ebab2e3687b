import { ActionIcon, Kbd, TextInput } from '@mantine/core'
import { IconChevronDown, IconChevronUp, IconMessageOff, IconSearch } from '@tabler/icons-react'
import { useVirtualizer } from '@tanstack/react-virtual'
import {
  type KeyboardEvent,
  useCallback,
  useDeferredValue,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from 'react'
import type { Call, TimelineEntry } from '../../../../calls/schemas.ts'
import { Empty } from '../../components/empty.tsx'
import { counted } from '../../components/figures.ts'
import { linesOf, type SpokenLine } from './conversation.ts'
import { RedactedText } from './redacted-text.tsx'
import { At, Steps } from './steps.tsx'
import { findInTurns, rangesByTurn, type TurnMatch } from './turn-matches.ts'
import { useTopWithin } from './use-top-within.ts'

const turnPx = 64
/** Shorter ones are whole in the page, for the browser's own search and for printing. */
const wholeUpTo = 200
const nearEndPx = 80

interface TranscriptProps {
  call: Call
  timeline: readonly TimelineEntry[] | undefined
  /** What scrolls. */
  panel: HTMLElement | null
  /** Words of the list's search, to be marked at first. */
  searchedFor: string
}

const noTimeline: TimelineEntry[] = []

/** The conversation: the caller on one side, the agent on the other, what tools did in between. */
export function Transcript({ call, timeline = noTimeline, panel, searchedFor }: TranscriptProps) {
  const { transcript, status } = call
  const lines = useMemo(() => linesOf(transcript, timeline), [transcript, timeline])
  const [query, setQuery] = useState(searchedFor)
  const deferred = useDeferredValue(query)
  const matches = useMemo(() => findInTurns(transcript, deferred), [transcript, deferred])
  const ranges = useMemo(() => rangesByTurn(matches), [matches])
  const [position, setPosition] = useState(0)
  const current = matches[Math.min(position, matches.length - 1)]
  const list = useRef<HTMLOListElement>(null)
  const top = useTopWithin(list, panel)
  const virtual = useVirtualizer({
    count: lines.length,
    getScrollElement: () => panel,
    estimateSize: () => turnPx,
    scrollMargin: top,
    overscan: lines.length <= wholeUpTo ? wholeUpTo : 12,
    // Bar, tabs and search stay on top.
    scrollPaddingStart: 144,
    scrollPaddingEnd: 48,
  })

  const lineOf = useCallback(
    ({ turn }: TurnMatch) => lines.findIndex((line) => 'turn' in line && line.index === turn),
    [lines],
  )
  const jump = (to: number) => {
    const next = (to + matches.length) % matches.length
    setPosition(next)
    const match = matches[next]
    if (match) virtual.scrollToIndex(lineOf(match), { align: 'center' })
  }
  const first = matches[0]
  const search = (text: string) => {
    setQuery(text)
    setPosition(0)
  }
  useEffect(() => {
    if (deferred && first) virtual.scrollToIndex(lineOf(first), { align: 'center' })
  }, [deferred, first, virtual, lineOf])
  useFollowedEnd(panel, status === 'live' ? lines.length : null)

  if (lines.length === 0) {
    return (
      <Empty icon={<IconMessageOff size={24} stroke={1.6} />} title="Nothing was said">
        {status === 'live' ? 'What is said appears here as it comes in.' : 'This call has no transcript.'}
      </Empty>
    )
  }
  return (
    <>
      <TranscriptSearch
        query={query}
        onSearch={search}
        matches={deferred.trim() ? matches : null}
        position={Math.min(position, matches.length - 1)}
        onJump={jump}
      />
      <ol ref={list} className="cb-turns" style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map(({ index, key, start }) => {
          const line = lines[index]
          return (
            line && (
              <li
                key={key}
                ref={virtual.measureElement}
                data-index={index}
                data-role={'turn' in line ? line.turn.role : undefined}
                aria-setsize={lines.length}
                aria-posinset={index + 1}
                className="cb-turn"
                style={{ transform: `translateY(${start - top}px)` }}
              >
                {'turn' in line ? (
                  <TurnText
                    line={line}
                    isFirstOfRun={transcript[line.index - 1]?.role !== line.turn.role}
                    ranges={ranges.get(line.index)}
                    current={current?.turn === line.index ? current : undefined}
                  />
                ) : (
                  <Steps steps={line.steps} />
                )}
              </li>
            )
          )
        })}
      </ol>
      {status === 'live' && <p className="cb-turns-live">The call goes on…</p>}
    </>
  )
}

interface TurnTextProps {
  line: SpokenLine
  isFirstOfRun: boolean
  ranges: [number, number][] | undefined
  current: TurnMatch | undefined
}

function TurnText({ line: { turn, atSeconds }, isFirstOfRun, ranges = [], current }: TurnTextProps) {
  const { role, content } = turn
  const speaker = role === 'user' ? 'Caller' : 'Agent'
  return (
    <>
      {isFirstOfRun ? (
        <span className="cb-turn-speaker">{speaker}</span>
      ) : (
        <span className="cb-hidden">{speaker}</span>
      )}
      <div className="cb-turn-line">
        <p className="cb-turn-text" dir="auto">
          {marked(content, ranges, current)}
        </p>
        {atSeconds !== null && <At seconds={atSeconds} />}
      </div>
    </>
  )
}

/** The text in pieces, those that were looked for marked, and the one that was jumped to marked apart. */
function marked(text: string, ranges: [number, number][], current: TurnMatch | undefined) {
  const pieces = ranges.flatMap(([start, end], at) => [
    <RedactedText key={`${start}-`} text={text.slice(ranges[at - 1]?.[1] ?? 0, start)} />,
    <mark key={start} data-current={current?.start === start || undefined}>
      {text.slice(start, end)}
    </mark>,
  ])
  return [...pieces, <RedactedText key="rest" text={text.slice(ranges.at(-1)?.[1] ?? 0)} />]
}

interface TranscriptSearchProps {
  query: string
  onSearch: (text: string) => void
  /** Null while nothing is looked for. */
  matches: readonly TurnMatch[] | null
  position: number
  onJump: (to: number) => void
}

function TranscriptSearch({ query, onSearch, matches, position, onJump }: TranscriptSearchProps) {
  const isFound = matches !== null && matches.length > 0
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && isFound) onJump(position + (event.shiftKey ? -1 : 1))
    if (event.key !== 'Escape') return
    // The first Escape leaves the search, the next one the call.
    event.stopPropagation()
    if (query) onSearch('')
    else if (event.target instanceof HTMLElement) event.target.blur()
  }
  return (
    <search className="cb-turns-search" aria-label="Search this transcript">
      <TextInput
        type="search"
        size="xs"
        aria-label="Search this transcript"
        placeholder="Search this transcript"
        maxLength={200}
        value={query}
        onChange={(event) => onSearch(event.currentTarget.value)}
        onKeyDown={onKeyDown}
        leftSection={<IconSearch size={14} aria-hidden />}
        rightSection={
          isFound && (
            <Kbd size="xs" aria-hidden>
              ↵
            </Kbd>
          )
        }
      />
      <span role="status" className="cb-turns-count">
        {matches === null
          ? ''
          : isFound
            ? `${position + 1} of ${matches.length.toLocaleString()}`
            : 'Not found'}
      </span>
      <ActionIcon
        variant="subtle"
        color="gray"
        size={28}
        aria-label="Previous match"
        disabled={!isFound}
        onClick={() => onJump(position - 1)}
      >
        <IconChevronUp size={16} />
      </ActionIcon>
      <ActionIcon
        variant="subtle"
        color="gray"
        size={28}
        aria-label="Next match"
        disabled={!isFound}
        onClick={() => onJump(position + 1)}
      >
        <IconChevronDown size={16} />
      </ActionIcon>
      {isFound && (
        <span className="cb-hidden">
          {counted(matches.length, 'match', 'matches')}. Enter goes to the next.
        </span>
      )}
    </search>
  )
}

/** Whoever is at the end of a conversation stays there while it grows; whoever reads further up is left alone. */
function useFollowedEnd(panel: HTMLElement | null, turns: number | null): void {
  const isAtEnd = useRef(false)
  const isLive = turns !== null
  useEffect(() => {
    if (!panel || !isLive) return
    const note = () => {
      isAtEnd.current = panel.scrollHeight - panel.scrollTop - panel.clientHeight < nearEndPx
    }
    note()
    panel.addEventListener('scroll', note, { passive: true })
    return () => panel.removeEventListener('scroll', note)
  }, [panel, isLive])
  useLayoutEffect(() => {
    if (turns === null || !isAtEnd.current) return
    const frame = requestAnimationFrame(() => panel?.scrollTo({ top: panel.scrollHeight }))
    return () => cancelAnimationFrame(frame)
  }, [panel, turns])
}
