import { Skeleton, Tabs } from '@mantine/core'
import { useLocation, useNavigate, useSearch } from '@tanstack/react-router'
import { lazy, type RefObject, Suspense, startTransition, useMemo, useRef, useState } from 'react'
import { turnTimes } from '../../../../calls/reading/talk-timeline.ts'
import type { Call, CallDetails } from '../../../../calls/schemas.ts'
import { asCount, counted } from '../../components/figures.ts'
import { useProject } from '../../session.ts'
import classes from './call.module.css'
import { CallRail } from './call-rail.tsx'
import { CallStrip } from './call-strip.tsx'
import { type Line, linesOf } from './conversation.ts'
import { useOpenCalls } from './open-calls.ts'
import { RecordingState } from './recording.tsx'
import { playablePath } from './recording-queries.ts'
import { Transcript, TranscriptTools } from './transcript.tsx'
import { hashOfTurn, turnOfHash } from './turn-hash.ts'
import type { TurnMatch } from './turn-matches.ts'
import type { TargetLine } from './turns.tsx'
import { playFrom } from './use-audio.ts'
import { useKeys } from './use-keys.ts'
import type { Rail } from './use-rail.ts'
import { type TurnSearch, useTurnSearch } from './use-turn-search.ts'

const CallAnalysis = lazy(async () => ({ default: (await import('./call-analysis.tsx')).CallAnalysis }))
const CallPlayer = lazy(async () => ({ default: (await import('./call-player.tsx')).CallPlayer }))
const RawCall = lazy(async () => ({ default: (await import('./raw-call.tsx')).RawCall }))

const tabs = [
  { value: 'transcript', label: 'Transcript' },
  { value: 'analysis', label: 'Analysis' },
  { value: 'raw', label: 'Raw' },
] as const

interface OpenCallProps {
  call: Call
  /** Undefined when they could not be loaded. */
  details: CallDetails | undefined
  panel: RefObject<HTMLElement | null>
  rail: Rail
}

const noTimeline: CallDetails['timeline'] = []

/** A call: its timeline and conversation, and beside or above them what is known of it. */
export function OpenCall({ call, details, panel, rail }: OpenCallProps) {
  const { text } = useOpenCalls()
  const timeline = details?.timeline ?? noTimeline
  const lines = useMemo(() => linesOf(call.transcript, timeline), [call.transcript, timeline])
  const search = useTurnSearch(call.transcript, call.summary, text ?? '')
  const places = usePlaces(call, search)
  const audio = useRef<HTMLAudioElement>(null)
  const [heard, setHeard] = useState<number | null>(null)
  const { id: project } = useProject()
  const path = playablePath(project, call.id, details)
  const onTarget = (index: number) => {
    const at = path === null ? undefined : turnTimes(call.transcript.length, timeline).get(index)
    // The address then names the moment. Naming the turn as well would keep the browser from playing at once.
    if (at !== undefined) playFrom(audio.current, at)
    else places.nameTurn(index)
  }
  const part = { call, details, lines, search, places }
  const hasTimeline = path !== null || call.transcript.length > 0
  return (
    <div className={classes.columns} data-beside={rail.isBeside || undefined}>
      <CallRail call={call} details={details} rail={rail} summaryRanges={search.summaryRanges} />
      <div className={classes.main} data-timeline={hasTimeline || undefined}>
        <Timeline {...part} path={path} audio={audio} onHeard={setHeard} />
        {details && <RecordingState id={call.id} recording={details.recording} url={details.recordingUrl} />}
        <Conversation {...part} panel={panel} heard={heard} onTarget={onTarget} />
      </div>
    </div>
  )
}

interface PartProps extends Pick<OpenCallProps, 'call' | 'details'> {
  lines: readonly Line[]
  search: TurnSearch
  places: ReturnType<typeof usePlaces>
}

interface TimelineProps extends PartProps {
  /** Of the recording; null if there is none to play. */
  path: string | null
  audio: RefObject<HTMLAudioElement | null>
  /** The turn that is heard. */
  onHeard: (turn: number | null) => void
}

function Timeline({ call, details, lines, search, places, path, audio, onHeard }: TimelineProps) {
  const part = { call, lines, matches: search.matches ?? noMatches, onLine: places.goToLine }
  if (path === null || !details)
    return <CallStrip {...part} details={details} target={places.target} onTurn={places.goTo} />
  return (
    <Suspense fallback={<div className={classes.playerLoading} aria-busy="true" />}>
      <CallPlayer
        key={`${path} ${details.recording.keptAt}`}
        {...part}
        details={details}
        path={path}
        audio={audio}
        startAt={places.t ?? 0}
        onTurn={(index) => startTransition(() => onHeard(index))}
        onMoment={places.keepMoment}
      />
    </Suspense>
  )
}

const noMatches: readonly TurnMatch[] = []

interface ConversationProps extends PartProps, Pick<OpenCallProps, 'panel'> {
  heard: number | null
  onTarget: (turn: number) => void
}

/** The transcript, the analysis and the document. */
function Conversation({ call, details, lines, search, places, ...shown }: ConversationProps) {
  const { tab, show, target, shownLine, quote } = places
  return (
    <Tabs
      value={tab}
      onChange={(value) => show(value)}
      keepMounted={false}
      className={classes.conversation}
      classNames={{ list: classes.tabList }}
    >
      <div className={classes.tabs}>
        <TabNames call={call} details={details} />
        {tab === 'transcript' && lines.length > 0 && (
          <TranscriptTools call={call} details={details} search={search} />
        )}
      </div>
      <Tabs.Panel value="transcript">
        <Transcript
          {...shown}
          call={call}
          details={details}
          lines={lines}
          search={search}
          target={target}
          shownLine={shownLine}
        />
      </Tabs.Panel>
      <Tabs.Panel value="analysis" className={classes.part}>
        <Suspense fallback={<Skeleton height={240} />}>
          <CallAnalysis call={call} review={details?.review ?? null} onQuote={quote} />
        </Suspense>
      </Tabs.Panel>
      <Tabs.Panel value="raw" className={classes.part}>
        <Suspense fallback={<Skeleton height={240} />}>
          <RawCall call={call} details={details} />
        </Suspense>
      </Tabs.Panel>
    </Tabs>
  )
}

/** What of the call is shown: its tab, turn and moment, which the address names, or a line that the timeline leads to. */
function usePlaces(call: Call, search: TurnSearch) {
  const { tab, t, show } = useAddress(call.id)
  const turn = turnOfHash(useLocation({ select: (location) => location.hash }))
  // Counts jumps, since the same place may be the target twice.
  const [jump, setJump] = useState(0)
  const [shownLine, setShownLine] = useState<TargetLine | null>(null)
  const nameTurn = (index: number) => show(null, { hash: hashOfTurn(index) })
  const goTo = (index: number) => {
    nameTurn(index)
    setJump(jump + 1)
  }
  useKeys({ a: () => show(tab === 'analysis' ? null : 'analysis') })
  return {
    tab,
    t,
    show,
    target: turn === null ? null : { turn, jump },
    shownLine,
    nameTurn,
    goTo,
    goToLine: (line: number) => {
      if (tab !== 'transcript') show(null)
      setShownLine({ line, jump: (shownLine?.jump ?? 0) + 1 })
    },
    quote: (turns: readonly number[], text: string) => {
      if (search.find(text, turns)) show(null, { isStep: true })
      else goTo(turns[0] ?? 0)
    },
    keepMoment: (seconds: number) => {
      const moment = Math.round(seconds) || undefined
      if (moment !== t) show(tab, { t: moment })
    },
  }
}

interface AddressChange {
  hash?: string
  /** The moment of the recording, in seconds; kept without one. */
  t?: number | undefined
  /** Whether the browser's Back returns to what is shown now. */
  isStep?: boolean
}

/** The tab and the moment in the address, and how they change. */
function useAddress(call: string) {
  const { id: project } = useProject()
  const navigate = useNavigate()
  const { tab = 'transcript', ...search } = useSearch({ from: '/p/$project/calls/$call' })
  const show = (value: string | null, { hash = '', isStep = false, ...change }: AddressChange = {}) => {
    void navigate({
      to: '/p/$project/calls/$call',
      params: { project, call },
      search: { ...search, ...change, tab: value === 'analysis' || value === 'raw' ? value : undefined },
      hash,
      hashScrollIntoView: false,
      replace: !isStep,
      resetScroll: false,
    })
  }
  return { tab, t: search.t, show }
}

function TabNames({ call, details }: Pick<OpenCallProps, 'call' | 'details'>) {
  return (
    <Tabs.List>
      {tabs.map(({ value, label }) => (
        <Tabs.Tab key={value} value={value}>
          {label}{' '}
          {value === 'transcript' && call.transcript.length > 0 && (
            <span className="cb-tab-count" title={counted(call.transcript.length, 'turn')}>
              {asCount(call.transcript.length)}
            </span>
          )}
          {value === 'analysis' && details && <VerdictCount details={details} />}
        </Tabs.Tab>
      ))}
    </Tabs.List>
  )
}

/** How many criteria passed; a person's verdict takes precedence. */
function VerdictCount({ details: { analysis, review } }: { details: CallDetails }) {
  const verdicts = Object.entries(analysis.criteria).map(([id, result]) => review?.criteria?.[id] ?? result)
  const passed = verdicts.filter((verdict) => verdict === 'pass').length
  if (verdicts.length === 0) return null
  return (
    <span
      className="cb-tab-count"
      title={`${passed} of ${counted(verdicts.length, 'criterion', 'criteria')} passed`}
    >
      {passed}/{verdicts.length}
    </span>
  )
}
