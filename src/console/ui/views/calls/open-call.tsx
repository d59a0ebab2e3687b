import { Skeleton, Tabs } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { lazy, type RefObject, Suspense, useEffect, useEffectEvent, useMemo, useRef, useState } from 'react'
import { turnTimes } from '../../../../calls/reading/talk-timeline.ts'
import type { Call, CallDetails } from '../../../../calls/schemas.ts'
import type { ShownDetails } from '../../../call-routes.ts'
import { asCount, counted } from '../../components/figures.ts'
import { useProject } from '../../session.ts'
import classes from './call.module.css'
import { NotesFields } from './call-head.tsx'
import { CallPageContext, type NotesField, type Rail, type Sound, useCallPage } from './call-page.ts'
import { CallRail } from './call-rail.tsx'
import { type CallTrack, silencesOf, trackOf, trackOfSound, turnAt } from './call-track.ts'
import { type Clock, createClock, useClock } from './clock.ts'
import { linesOf } from './conversation.ts'
import { useOpenCalls } from './open-calls.ts'
import { heardQuery, peaksQuery, playablePath, RecordingState } from './recording.tsx'
import { Timeline } from './timeline.tsx'
import { Transcript, TranscriptTools } from './transcript.tsx'
import { type Places, usePlaces, useTurnSearch } from './use-places.ts'

const CallAnalysis = lazy(async () => ({ default: (await import('./call-analysis.tsx')).CallAnalysis }))
const RawCall = lazy(async () => ({ default: (await import('./call-analysis.tsx')).RawCall }))

const tabs = [
  { value: 'transcript', label: 'Transcript' },
  { value: 'analysis', label: 'Analysis' },
  { value: 'raw', label: 'Raw' },
] as const

interface OpenCallProps {
  call: Call
  /** Undefined when they could not be loaded. */
  details: ShownDetails | undefined
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
  const places = usePlaces(call.id, search)
  const notes = useNotesField()
  const sound = useSound(call.id, details)
  // Without times a moment has no place.
  const hasMoments = sound !== null || !details || turnTimes(call.transcript.length, timeline).size > 0
  const [clock] = useState(() => createClock(hasMoments ? (places.t ?? 0) : 0))
  const heardSeconds = useClock(clock, ({ playing }) => playing().duration)
  const soundSeconds =
    sound && (details?.recording.durationSeconds ?? sound.waveform?.seconds ?? heardSeconds ?? call.duration)
  const waveform = sound?.waveform ?? null
  const { data: heard = null } = useQuery(heardQuery(useProject().id, call.id, details))
  const track = useMemo(() => {
    const spoken = trackOf(call.transcript, timeline, lines, soundSeconds ?? call.duration)
    const whole = soundSeconds === null ? spoken : trackOfSound(spoken, soundSeconds)
    return waveform ? { ...whole, heard, silences: heard?.deadAir ?? silencesOf(waveform) } : whole
  }, [call.transcript, call.duration, timeline, lines, soundSeconds, waveform, heard])
  useClockAtTarget(clock, track, places.target, sound === null)
  const page = { call, details, lines, sound, track, clock, search, places, rail, notes, panel }
  const hasTimeline = sound !== null || call.transcript.length > 0
  return (
    <CallPageContext value={page}>
      <div className={classes.columns} data-beside={rail.isBeside || undefined}>
        <NotesFields />
        <CallRail />
        <div className={classes.main} data-timeline={hasTimeline || undefined}>
          {hasTimeline && <Timeline />}
          <RecordingState />
          <Conversation />
        </div>
      </div>
    </CallPageContext>
  )
}

/** What can be played of a call, and its waveform once it is known. */
function useSound(id: string, details: CallDetails | undefined): Sound | null {
  const { id: project } = useProject()
  const path = playablePath(project, id, details)
  const isKept = details?.recording.state === 'kept'
  const { data: waveform = null } = useQuery({
    ...peaksQuery(project, id, details?.recording.keptAt ?? null),
    enabled: isKept,
  })
  return useMemo(() => (path === null ? null : { path, isKept, waveform }), [path, isKept, waveform])
}

/** Where no sound moves the playhead, a turn that the address names takes it along. */
function useClockAtTarget(clock: Clock, track: CallTrack, target: Places['target'], isSilent: boolean): void {
  const follow = useEffectEvent((turn: number) => {
    if (isSilent && turnAt(track, clock.now()) !== turn) clock.seek(track.starts[turn] ?? 0)
  })
  const { turn, jump } = target ?? {}
  useEffect(() => {
    if (turn !== undefined && jump !== undefined) follow(turn)
  }, [turn, jump])
}

function useNotesField(): NotesField {
  const [field, setField] = useState<NotesField['field']>(null)
  const before = useRef<Element>(null)
  return {
    field,
    open: (next) => {
      before.current = document.activeElement
      setField(next)
    },
    close: ({ isByKey = false } = {}) => {
      if (isByKey && before.current instanceof HTMLElement) before.current.focus({ preventScroll: true })
      setField(null)
    },
  }
}

/** The transcript, the analysis and the document. */
function Conversation() {
  const {
    lines,
    places: { tab, show },
  } = useCallPage()
  return (
    <Tabs
      value={tab}
      onChange={(value) => show(value)}
      keepMounted={false}
      className={classes.conversation}
      classNames={{ list: classes.tabList }}
    >
      <div className={classes.tabs}>
        <TabNames />
        {tab === 'transcript' && lines.length > 0 && <TranscriptTools />}
      </div>
      <Tabs.Panel value="transcript">
        <Transcript />
      </Tabs.Panel>
      <Tabs.Panel value="analysis" className={classes.part}>
        <Suspense fallback={<Skeleton height={240} />}>
          <CallAnalysis />
        </Suspense>
      </Tabs.Panel>
      <Tabs.Panel value="raw" className={classes.part}>
        <Suspense fallback={<Skeleton height={240} />}>
          <RawCall />
        </Suspense>
      </Tabs.Panel>
    </Tabs>
  )
}

function TabNames() {
  const { call, details } = useCallPage()
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
