import { ActionIcon, Kbd, TextInput, Tooltip } from '@mantine/core'
import { IconChevronDown, IconChevronUp, IconMessageOff, IconPrinter, IconSearch } from '@tabler/icons-react'
import { useVirtualizer } from '@tanstack/react-virtual'
import {
  type KeyboardEvent,
  type MouseEvent,
  useEffect,
  useEffectEvent,
  useLayoutEffect,
  useMemo,
  useRef,
} from 'react'
import type { Call, CallDetails, TimelineEntry } from '../../../../calls/schemas.ts'
import { closestTarget, isPlain } from '../../components/clicks.ts'
import { CopyButton } from '../../components/copy-button.tsx'
import { Empty } from '../../components/empty.tsx'
import { asCount, counted } from '../../components/figures.ts'
import { useRefusal } from '../../session.ts'
import { callText } from './call-text.ts'
import { linesOf } from './conversation.ts'
import { PrintedTurns } from './printed-turns.tsx'
import { useReview } from './review-queries.ts'
import { Steps } from './steps.tsx'
import { TurnLine } from './turn-line.tsx'
import { rangesByTurn } from './turn-matches.ts'
import { useIsPrinting } from './use-is-printing.ts'
import { useTopWithin } from './use-top-within.ts'
import type { TurnSearch } from './use-turn-search.ts'

const turnPx = 64
/** Shorter transcripts are rendered whole, so that the browser's own search works. */
const wholeUpTo = 200
const nearEndPx = 80

interface TranscriptProps {
  call: Call
  details: CallDetails | undefined
  /** The element that scrolls. */
  panel: HTMLElement | null
  search: TurnSearch
  /** The turn in the URL; `jump` counts how often it was requested. */
  target: { turn: number; jump: number } | null
  /** Makes the address name a turn. */
  onTarget: (turn: number) => void
}

const noTimeline: TimelineEntry[] = []

/** The conversation: the caller on one side, the agent on the other, what tools did in between. */
export function Transcript({ call, details, panel, search, target, onTarget }: TranscriptProps) {
  const { transcript, status } = call
  const timeline = details?.timeline ?? noTimeline
  const lines = useMemo(() => linesOf(transcript, timeline), [transcript, timeline])
  const { mutate: review } = useReview(call.id)
  const flagged = new Set(details?.review?.flaggedTurns)
  const isReadOnly = useRefusal('change') !== null
  const ranges = useMemo(() => rangesByTurn(search.matches ?? []), [search.matches])
  const current = search.matches?.[search.position]
  const isPrinting = useIsPrinting()
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
  const reveal = useEffectEvent((turn: number) => {
    const at = lines.findIndex((line) => 'turn' in line && line.index === turn)
    if (at >= 0) virtual.scrollToIndex(at, { align: 'center' })
  })
  useEffect(() => {
    if (panel && current) reveal(current.turn)
  }, [panel, current])
  const { turn: targetTurn, jump } = target ?? {}
  useEffect(() => {
    // Once the panel is rendered, and again when the same turn is requested again.
    if (panel && targetTurn !== undefined && jump !== undefined) reveal(targetTurn)
  }, [panel, targetTurn, jump])
  useFollowedEnd(panel, status === 'live' ? lines.length : null)
  const onClick = (event: MouseEvent) => {
    const line = lines[Number(closestTarget(event, '.cb-turn')?.dataset.index)]
    if (!line || !('turn' in line)) return
    if (closestTarget(event, '.cb-turn-link') && isPlain(event)) {
      event.preventDefault()
      onTarget(line.index)
    } else if (closestTarget(event, '.cb-turn-flag') && !isReadOnly) {
      const turns = [line.index]
      review(flagged.has(line.index) ? { unflagTurns: turns } : { flagTurns: turns })
    }
  }

  if (lines.length === 0) {
    return (
      <Empty icon={<IconMessageOff size={24} stroke={1.6} />} title="No transcript">
        {status === 'live' ? 'The conversation appears here as it happens.' : 'This call has no transcript.'}
      </Empty>
    )
  }
  return (
    <>
      <TranscriptSearch search={search}>
        <CopyButton value={() => callText(call, details)} label="Copy as text" />
        <PrintButton />
      </TranscriptSearch>
      {isPrinting ? (
        <PrintedTurns lines={lines} />
      ) : (
        <ol ref={list} className="cb-turns" style={{ height: virtual.getTotalSize() }} {...{ onClick }}>
          {virtual.getVirtualItems().map(({ index, key, start }) => {
            const line = lines[index]
            return (
              line && (
                <li
                  key={key}
                  ref={virtual.measureElement}
                  data-index={index}
                  data-role={'turn' in line ? line.turn.role : undefined}
                  data-target={('turn' in line && line.index === targetTurn) || undefined}
                  data-flagged={('turn' in line && flagged.has(line.index)) || undefined}
                  aria-setsize={lines.length}
                  aria-posinset={index + 1}
                  className="cb-turn"
                  style={{ transform: `translateY(${start - top}px)` }}
                >
                  {'turn' in line ? (
                    <TurnLine
                      line={line}
                      isFirstOfRun={transcript[line.index - 1]?.role !== line.turn.role}
                      ranges={ranges.get(line.index)}
                      current={current?.turn === line.index ? current : undefined}
                      isFlagged={flagged.has(line.index)}
                      isReadOnly={isReadOnly}
                    />
                  ) : (
                    <Steps steps={line.steps} />
                  )}
                </li>
              )
            )
          })}
        </ol>
      )}
      {status === 'live' && <p className="cb-turns-live">The call goes on…</p>}
    </>
  )
}

function PrintButton() {
  return (
    <Tooltip label="Print">
      <ActionIcon variant="subtle" color="gray" size={28} aria-label="Print" onClick={() => window.print()}>
        <IconPrinter size={16} />
      </ActionIcon>
    </Tooltip>
  )
}

function TranscriptSearch({ search, children }: { search: TurnSearch; children: React.ReactNode }) {
  const { query, onQuery, matches, position, onPosition } = search
  const isFound = matches !== null && matches.length > 0
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && isFound) onPosition(position + (event.shiftKey ? -1 : 1))
    if (event.key !== 'Escape') return
    // The first Escape leaves the search, the next one the call.
    event.stopPropagation()
    if (query) onQuery('')
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
        onChange={(event) => onQuery(event.currentTarget.value)}
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
      {matches !== null && (
        <>
          <span role="status" className="cb-turns-count">
            {isFound ? `${asCount(position + 1)} of ${asCount(matches.length)}` : 'Not found'}
          </span>
          <ActionIcon
            variant="subtle"
            color="gray"
            size={28}
            aria-label="Previous match"
            disabled={!isFound}
            onClick={() => onPosition(position - 1)}
          >
            <IconChevronUp size={16} />
          </ActionIcon>
          <ActionIcon
            variant="subtle"
            color="gray"
            size={28}
            aria-label="Next match"
            disabled={!isFound}
            onClick={() => onPosition(position + 1)}
          >
            <IconChevronDown size={16} />
          </ActionIcon>
        </>
      )}
      {isFound && (
        <span className="cb-hidden">
          {counted(matches.length, 'match', 'matches')}. Enter goes to the next.
        </span>
      )}
      {children}
    </search>
  )
}

/** Follows a growing conversation if the reader is at its end. */
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
