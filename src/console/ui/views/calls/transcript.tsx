import { Group, Kbd, Text, TextInput } from '@mantine/core'
import { IconChevronDown, IconChevronUp, IconMessageOff, IconSearch } from '@tabler/icons-react'
import {
  type KeyboardEvent,
  lazy,
  type MouseEvent,
  type RefObject,
  Suspense,
  useDeferredValue,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from 'react'
import { useShow } from '../../components/dialogs.tsx'
import { Empty } from '../../components/empty.tsx'
import { closestTarget, isPlain } from '../../components/events.ts'
import { asCount, asMoment, counted } from '../../components/figures.ts'
import { IconButton } from '../../components/icon-button.tsx'
import { useIsPrinting } from '../../components/use-is-printing.ts'
import { useRefusal } from '../../session.ts'
import { useCopyLink } from './call-links.ts'
import { useCallPage } from './call-page.ts'
import { turnAt } from './call-track.ts'
import { useClock } from './clock.ts'
import { type Line, rangesByTurn } from './conversation.ts'
import { useReview } from './review-queries.ts'
import { stepNames } from './step.ts'
import { Steps } from './steps.tsx'
import classes from './transcript.module.css'
import { useSlowLatency } from './turn-latency.tsx'
import { TurnLine } from './turn-line.tsx'
import { VirtualTurns, WholeTurns } from './turns.tsx'

const CaseForm = lazy(() => import('../cases/case-form.tsx'))

/** Shorter transcripts are rendered whole, which is faster and lets the browser's own search work. */
const wholeUpTo = 200
/** A live call that was rendered whole stays so up to this length: changing the list loses the reader's place. */
const wholeUpToWhileOpen = 1_000
const nearEndPx = 80

/** The conversation: the caller on one side, the agent on the other, what tools did in between. */
export function Transcript() {
  const { call, details, lines, panel, search, places } = useCallPage()
  const { transcript, status } = call
  const flagged = new Set(details?.review?.flaggedTurns)
  const isReadOnly = useRefusal('change') !== null
  const ranges = useMemo(() => rangesByTurn(search.matches ?? []), [search.matches])
  const current = search.matches?.[search.position]
  const heard = useDeferredValue(useHeard())
  const isPrinting = useIsPrinting()
  const slowFromMs = useSlowLatency(lines.some((line) => 'turn' in line && line.latency !== null))
  const [opensWhole] = useState(lines.length <= wholeUpTo)
  const onClick = useTurnClicks(flagged, isReadOnly)
  useFollowedEnd(panel, status === 'live' ? lines.length : null)

  if (lines.length === 0) {
    return (
      <Empty icon={<IconMessageOff size={24} stroke={1.6} />} title="No transcript">
        {status === 'live' ? 'The conversation appears here as it happens.' : 'This call has no transcript.'}
      </Empty>
    )
  }
  const itemOf = (line: Line, index: number) => {
    const turn = 'turn' in line ? line : null
    const isHeard = (turn && turn.index === heard) || undefined
    return {
      'data-index': index,
      'data-role': turn?.turn.role,
      'data-target': (turn && turn.index === places.target?.turn) || undefined,
      'data-shown': index === places.line?.line || undefined,
      'data-heard': isHeard,
      'aria-current': isHeard,
      'data-flagged': (turn && flagged.has(turn.index)) || undefined,
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
            canTest={!isReadOnly && status === 'completed' && details !== undefined}
            slowFromMs={slowFromMs}
          />
        ) : (
          <Steps steps={line.steps} />
        ),
    }
  }
  const Turns = lines.length <= (opensWhole ? wholeUpToWhileOpen : wholeUpTo) ? WholeTurns : VirtualTurns
  return (
    <>
      {isPrinting && <PrintedTurns lines={lines} />}
      <Turns itemOf={itemOf} heard={heard} delegated={{ onClick }} />
      {status === 'live' && !isPrinting && (
        <Text size="xs" c="dimmed" mt={-16} mx={20} mb={32}>
          The call is in progress…
        </Text>
      )}
    </>
  )
}

/** The turn under the playhead; null before it has moved. */
function useHeard(): number | null {
  const { clock, track } = useCallPage()
  return useClock(clock, ({ position }) =>
    position() > 0 && track.starts.length > 0 ? turnAt(track, position()) : null,
  )
}

/** The links and buttons of all turns. */
function useTurnClicks(flagged: ReadonlySet<number>, isReadOnly: boolean) {
  const { call, lines, sound, clock, places } = useCallPage()
  const { mutate: review } = useReview(call.id)
  const copyLink = useCopyLink()
  const makeTest = useMakeTest()
  return (event: MouseEvent) => {
    const line = lines[Number(closestTarget(event, '[data-index]')?.dataset.index)]
    if (!line || !('turn' in line)) return
    const { index, atSeconds } = line
    if (closestTarget(event, '[data-test]')) return makeTest(index)
    const link = closestTarget(event, 'a')
    if (link && isPlain(event)) {
      event.preventDefault()
      if (link.dataset.copy !== undefined) return copyLink({ turn: index })
      if (!sound || atSeconds === null) return places.nameTurn(index)
      // The address then names the moment. Naming the turn as well would keep the browser from playing at once.
      clock.seek(atSeconds)
      clock.play()
    } else if (closestTarget(event, '[aria-pressed]') && !isReadOnly) {
      review(flagged.has(index) ? { unflagTurns: [index] } : { flagTurns: [index] })
    }
  }
}

/** Asks what should hold of a turn of the agent. */
function useMakeTest() {
  const { call, details } = useCallPage()
  const show = useShow()
  return (turn: number) =>
    details &&
    show({
      title: 'Make a test',
      size: 560,
      content: (close) => (
        <Suspense>
          <CaseForm call={call} details={details} turn={turn} onClose={close} />
        </Suspense>
      ),
    })
}

/** Searches the transcript. */
export function TranscriptTools() {
  const { query, onQuery, matches, summaryRanges, position, onPosition } = useCallPage().search
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
    <Group
      component="search"
      gap={4}
      wrap="nowrap"
      flex={1}
      miw={0}
      h={44}
      pl={20}
      pr="sm"
      className={classes.turnsSearch}
      aria-label="Search this transcript"
    >
      <TextInput
        type="search"
        size="xs"
        flex={1}
        miw={0}
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
          <Text component="span" role="status" size="xs" c="dimmed" ta="right" miw={64} className="cb-figure">
            {isFound
              ? `${asCount(position + 1)} of ${asCount(matches.length)}`
              : summaryRanges.length > 0
                ? 'In the summary'
                : 'Not found'}
          </Text>
          <IconButton
            icon={IconChevronUp}
            label="Previous match"
            isDisabled={!isFound}
            onClick={() => onPosition(position - 1)}
          />
          <IconButton
            icon={IconChevronDown}
            label="Next match"
            isDisabled={!isFound}
            onClick={() => onPosition(position + 1)}
          />
        </>
      )}
      {isFound && (
        <span className="cb-hidden">
          {counted(matches.length, 'match', 'matches')}. Enter goes to the next.
        </span>
      )}
    </Group>
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

/** The whole conversation for printing, as text only, since ten thousand turns may be laid out at once. */
function PrintedTurns({ lines }: { lines: readonly Line[] }) {
  return (
    <ol className={classes.printed} aria-label="Whole conversation">
      {Object.entries(lines).map(([place, line]) =>
        'turn' in line ? (
          <li key={place}>
            <strong>{line.turn.role === 'user' ? 'Caller' : 'Agent'}</strong>
            {line.atSeconds !== null && <span className={classes.at}>{asMoment(line.atSeconds)}</span>}
            <p dir="auto">{line.turn.content}</p>
          </li>
        ) : (
          <li key={place} className="cb-dimmed">
            {stepNames(line.steps).join(', ')}
          </li>
        ),
      )}
    </ol>
  )
}
