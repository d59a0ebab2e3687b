import { ActionIcon, Kbd, TextInput } from '@mantine/core'
import { IconChevronDown, IconChevronUp, IconMessageOff, IconPrinter, IconSearch } from '@tabler/icons-react'
import {
  type KeyboardEvent,
  type MouseEvent,
  type RefObject,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from 'react'
import type { Call, CallDetails } from '../../../../calls/schemas.ts'
import { closestTarget, isPlain } from '../../components/clicks.ts'
import { CopyButton } from '../../components/copy-button.tsx'
import { Empty } from '../../components/empty.tsx'
import { asCount, counted } from '../../components/figures.ts'
import { useRefusal } from '../../session.ts'
import { callText } from './call-text.ts'
import type { Line } from './conversation.ts'
import { PrintedTurns } from './printed-turns.tsx'
import { useReview } from './review-queries.ts'
import { useSlowLatency } from './slow-latency.ts'
import { Steps } from './steps.tsx'
import classes from './transcript.module.css'
import { TurnLine } from './turn-line.tsx'
import { rangesByTurn } from './turn-matches.ts'
import { type Target, type TargetLine, VirtualTurns, WholeTurns } from './turns.tsx'
import { useIsPrinting } from './use-is-printing.ts'
import type { TurnSearch } from './use-turn-search.ts'

/** Shorter transcripts are rendered whole, which is faster and lets the browser's own search work. */
const wholeUpTo = 200
/** A live call that was rendered whole stays so up to this length: changing the list loses the reader's place. */
const wholeUpToWhileOpen = 1_000
const nearEndPx = 80

interface TranscriptProps {
  call: Call
  details: CallDetails | undefined
  lines: readonly Line[]
  /** The element that scrolls. */
  panel: RefObject<HTMLElement | null>
  search: TurnSearch
  target: Target | null
  /** The line that the timeline leads to. */
  shownLine: TargetLine | null
  /** The turn of the recording that is heard. */
  heard: number | null
  /** Makes the address name a turn. */
  onTarget: (turn: number) => void
}

/** The conversation: the caller on one side, the agent on the other, what tools did in between. */
export function Transcript(props: TranscriptProps) {
  const { call, details, lines, panel, search, target, shownLine, heard, onTarget } = props
  const { transcript, status } = call
  const { mutate: review } = useReview(call.id)
  const flagged = new Set(details?.review?.flaggedTurns)
  const isReadOnly = useRefusal('change') !== null
  const ranges = useMemo(() => rangesByTurn(search.matches ?? []), [search.matches])
  const current = search.matches?.[search.position]
  const isPrinting = useIsPrinting()
  const slowFromMs = useSlowLatency(lines.some((line) => 'turn' in line && line.latency !== null))
  const [opensWhole] = useState(lines.length <= wholeUpTo)
  useFollowedEnd(panel, status === 'live' ? lines.length : null)
  const onClick = (event: MouseEvent) => {
    const line = lines[Number(closestTarget(event, '[data-index]')?.dataset.index)]
    if (!line || !('turn' in line)) return
    if (closestTarget(event, 'a') && isPlain(event)) {
      event.preventDefault()
      onTarget(line.index)
    } else if (closestTarget(event, '[aria-pressed]') && !isReadOnly) {
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
  const turns = {
    lines,
    delegated: { onClick },
    target,
    shownLine,
    heard,
    found: current,
    foundJump: search.jump,
    itemOf: (line: Line, index: number) => ({
      'data-index': index,
      'data-role': 'turn' in line ? line.turn.role : undefined,
      'data-target': ('turn' in line && line.index === target?.turn) || undefined,
      'data-shown': index === shownLine?.line || undefined,
      'data-heard': ('turn' in line && line.index === heard) || undefined,
      'aria-current': ('turn' in line && line.index === heard) || undefined,
      'data-flagged': ('turn' in line && flagged.has(line.index)) || undefined,
      className: classes.turn,
      children:
        'turn' in line ? (
          <TurnLine
            line={line}
            isFirstOfRun={transcript[line.index - 1]?.role !== line.turn.role}
            ranges={ranges.get(line.index)}
            current={current?.turn === line.index ? current : undefined}
            isFlagged={flagged.has(line.index)}
            isReadOnly={isReadOnly}
            slowFromMs={slowFromMs}
          />
        ) : (
          <Steps steps={line.steps} />
        ),
    }),
  }
  return (
    <>
      {isPrinting && <PrintedTurns lines={lines} />}
      {lines.length <= (opensWhole ? wholeUpToWhileOpen : wholeUpTo) ? (
        <WholeTurns {...turns} />
      ) : (
        <VirtualTurns {...turns} />
      )}
      {status === 'live' && <p className={classes.turnsLive}>The call goes on…</p>}
    </>
  )
}

/** Searches the transcript, and takes it elsewhere. */
export function TranscriptTools({
  call,
  details,
  search,
}: Pick<TranscriptProps, 'call' | 'details' | 'search'>) {
  return (
    <TranscriptSearch search={search}>
      <CopyButton value={() => callText(call, details)} label="Copy as text" />
      <PrintButton />
    </TranscriptSearch>
  )
}

function PrintButton() {
  return (
    <ActionIcon
      data-hint="Print"
      variant="subtle"
      color="gray"
      size={28}
      aria-label="Print"
      onClick={() => window.print()}
    >
      <IconPrinter size={16} />
    </ActionIcon>
  )
}

function TranscriptSearch({ search, children }: { search: TurnSearch; children: React.ReactNode }) {
  const { query, onQuery, matches, summaryRanges, position, onPosition } = search
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
    <search className={classes.turnsSearch} aria-label="Search this transcript">
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
          <span role="status" className={classes.turnsCount}>
            {isFound
              ? `${asCount(position + 1)} of ${asCount(matches.length)}`
              : summaryRanges.length > 0
                ? 'In the summary'
                : 'Not found'}
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
function useFollowedEnd(panel: RefObject<HTMLElement | null>, turns: number | null): void {
  const isAtEnd = useRef(false)
  const isLive = turns !== null
  useEffect(() => {
    const scroller = panel.current
    if (!scroller || !isLive) return
    const note = () => {
      isAtEnd.current = scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < nearEndPx
    }
    note()
    scroller.addEventListener('scroll', note, { passive: true })
    return () => scroller.removeEventListener('scroll', note)
  }, [panel, isLive])
  useLayoutEffect(() => {
    if (turns === null || !isAtEnd.current) return
    const frame = requestAnimationFrame(() => panel.current?.scrollTo({ top: panel.current.scrollHeight }))
    return () => cancelAnimationFrame(frame)
  }, [panel, turns])
}
