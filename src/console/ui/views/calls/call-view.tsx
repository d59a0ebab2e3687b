import { Button, Skeleton, Tabs } from '@mantine/core'
import { useDocumentTitle } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useLocation, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { lazy, type RefObject, Suspense, startTransition, useEffect, useRef, useState } from 'react'
import { turnTimes } from '../../../../calls/reading/talk-timeline.ts'
import type { Call, CallDetails } from '../../../../calls/schemas.ts'
import { ApiProblem } from '../../api.ts'
import { Empty } from '../../components/empty.tsx'
import { asCount, counted } from '../../components/figures.ts'
import { Problem } from '../../components/problem.tsx'
import { useDates } from '../../components/use-dates.ts'
import { useProject } from '../../session.ts'
import classes from './call.module.css'
import { CallBar } from './call-bar.tsx'
import { CallFacts, factNames, MoreFacts } from './call-facts.tsx'
import { CallHolds } from './call-hold.tsx'
import { callDetailsQuery, callQuery } from './call-queries.ts'
import { CallReview } from './call-review.tsx'
import { CallStrip } from './call-strip.tsx'
import { callTitle, personsNumber } from './call-title.ts'
import { useOpenCalls } from './open-calls.ts'
import { OtherCalls } from './other-calls.tsx'
import { RawCall } from './raw-call.tsx'
import { Recording, RecordingState } from './recording.tsx'
import { RetrievalSection } from './retrieval-section.tsx'
import { Transcript } from './transcript.tsx'
import { hashOfTurn, turnOfHash } from './turn-hash.ts'
import { playFrom } from './use-audio.ts'
import { useKeys } from './use-keys.ts'
import { useTurnSearch } from './use-turn-search.ts'

const CallAnalysis = lazy(async () => ({ default: (await import('./call-analysis.tsx')).CallAnalysis }))
const CallPlayer = lazy(async () => ({ default: (await import('./call-player.tsx')).CallPlayer }))

/** One call: its transcript, its analysis, its document. */
export function CallView() {
  const { call } = useParams({ from: '/p/$project/calls/$call' })
  // Remounts for another call, so that nothing of the previous one is left and it starts at the top.
  return <CallPanel key={call} id={call} />
}

function CallPanel({ id }: { id: string }) {
  const project = useProject()
  const { data, error, refetch } = useQuery(callQuery(project.id, id))
  // A cached call may have been deleted since.
  const isGone = error instanceof ApiProblem && error.status === 404
  const call = isGone ? undefined : data
  const details = useQuery(callDetailsQuery(project.id, id))
  const panel = useRef<HTMLElement>(null)
  const direction = details.data?.direction
  const dates = useDates()
  useDocumentTitle(
    `${call ? `${callTitle(call, direction)}, ${dates.moment(call.createdAt)}` : `Call ${id}`} · Callbook`,
  )
  useEffect(() => {
    // The panel covers the list and what was focused there.
    if (!isShown(document.getElementById('calls-list'))) panel.current?.focus()
  }, [])
  return (
    <section ref={panel} id="call" className={classes.call} aria-label={`Call ${id}`} tabIndex={-1}>
      <CallBar id={id} call={call} direction={direction} />
      {isGone ? (
        <NoSuchCall />
      ) : call && (details.data || details.failureCount > 0) ? (
        <>
          {details.isLoadingError && (
            <div className={classes.part}>
              <Problem
                title="The details of this call could not be loaded"
                error={details.error}
                onRetry={() => void details.refetch()}
              />
            </div>
          )}
          <OpenCall call={call} details={details.data} panel={panel} />
        </>
      ) : error ? (
        <div className={classes.part}>
          <Problem title="The call could not be loaded" error={error} onRetry={() => void refetch()} />
        </div>
      ) : (
        <CallSkeleton />
      )}
    </section>
  )
}

function isShown(element: Element | null): boolean {
  return element?.checkVisibility({ visibilityProperty: true }) ?? false
}

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
}

function OpenCall({ call, details, panel }: OpenCallProps) {
  const project = useProject()
  const navigate = useNavigate()
  const { tab = 'transcript', ...filters } = useSearch({ from: '/p/$project/calls/$call' })
  const { text } = useOpenCalls()
  const search = useTurnSearch(call.transcript, text ?? '')
  const hash = useLocation({ select: (location) => location.hash })
  const turn = turnOfHash(hash)
  // Counts jumps, since the same turn may be the target twice.
  const [jump, setJump] = useState(0)
  /** @param isStep whether the browser's Back returns to what is shown now */
  const show = (value: string | null, nextHash = '', t = filters.t, isStep = false) => {
    const next = value === 'analysis' || value === 'raw' ? value : undefined
    void navigate({
      to: '/p/$project/calls/$call',
      params: { project: project.id, call: call.id },
      search: { ...filters, tab: next, t },
      hash: nextHash,
      hashScrollIntoView: false,
      replace: !isStep,
      resetScroll: false,
    })
  }
  const goTo = (index: number) => {
    show(null, hashOfTurn(index))
    setJump(jump + 1)
  }
  const quote = (turns: readonly number[], text: string) => {
    if (search.find(text, turns)) show(null, '', filters.t, true)
    else goTo(turns[0] ?? 0)
  }
  useKeys({ a: () => show(tab === 'analysis' ? null : 'analysis') })
  const audio = useRef<HTMLAudioElement>(null)
  const [heard, setHeard] = useState<number | null>(null)
  const isKept = details?.recording.state === 'kept'
  const keepMoment = (seconds: number) => {
    const t = Math.round(seconds) || undefined
    if (t !== filters.t) show(tab, '', t)
  }
  const onTarget = (index: number) => {
    const at = isKept ? turnTimes(call.transcript.length, details.timeline).get(index) : undefined
    // The address then names the moment. Naming the turn as well would keep the browser from playing at once.
    if (at !== undefined) playFrom(audio.current, at)
    else show(null, hashOfTurn(index))
  }
  const number = personsNumber(call, details?.direction)
  return (
    <>
      {isKept && (
        <Suspense fallback={<div className={classes.playerLoading} aria-busy="true" />}>
          <CallPlayer
            key={details.recording.keptAt}
            call={call}
            details={details}
            audio={audio}
            matches={search.matches ?? []}
            startAt={filters.t ?? 0}
            onTurn={(index) => startTransition(() => setHeard(index))}
            onMoment={keepMoment}
          />
        </Suspense>
      )}
      <div className={classes.part}>
        {!isKept && <CallStrip call={call} details={details} matches={search.matches ?? []} onPick={goTo} />}
        <CallHolds id={call.id} />
        {details && <CallReview call={call} details={details} />}
        <CallFacts call={call} details={details} />
        <div className={classes.folds}>
          <MoreFacts call={call} details={details} />
          {number !== null && <OtherCalls id={call.id} number={number} />}
          <RetrievalSection id={call.id} />
        </div>
        {details && <RecordingState id={call.id} recording={details.recording} />}
        {!isKept && details?.recordingUrl && (
          <Recording key={details.recordingUrl} url={details.recordingUrl} />
        )}
      </div>
      <Tabs
        value={tab}
        onChange={(value) => show(value)}
        keepMounted={false}
        classNames={{ list: classes.tabs }}
      >
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
        <Tabs.Panel value="transcript">
          <Transcript
            call={call}
            details={details}
            panel={panel}
            search={search}
            target={turn === null ? null : { turn, jump }}
            heard={heard}
            onTarget={onTarget}
          />
        </Tabs.Panel>
        <Tabs.Panel value="analysis" className={classes.part}>
          <Suspense fallback={<Skeleton height={240} />}>
            <CallAnalysis call={call} review={details?.review ?? null} onQuote={quote} />
          </Suspense>
        </Tabs.Panel>
        <Tabs.Panel value="raw" className={classes.part}>
          <RawCall call={call} />
        </Tabs.Panel>
      </Tabs>
    </>
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

function NoSuchCall() {
  const { close } = useOpenCalls()
  return (
    <Empty
      title="Call not found"
      action={
        <Button variant="default" onClick={close}>
          Close
        </Button>
      }
    >
      It was deleted, has another ID, or belongs to another project.
    </Empty>
  )
}

function CallSkeleton() {
  return (
    <div aria-busy="true" role="status" aria-label="Loading the call">
      <div className={classes.part}>
        <div className={classes.facts}>
          {factNames.map((name) => (
            <div key={name} className={classes.fact}>
              <Skeleton height={10} width={56} />
              <Skeleton height={10} width={112} />
            </div>
          ))}
        </div>
      </div>
      <div className={classes.loading}>
        <Skeleton height={12} width={240} />
        {[72, 48, 64, 40, 60].map((width, at) => (
          <Skeleton
            key={width}
            height={44}
            width={`${width}%`}
            mb={16}
            ml={at % 2 === 0 ? 'auto' : 0}
            radius={10}
          />
        ))}
      </div>
    </div>
  )
}
