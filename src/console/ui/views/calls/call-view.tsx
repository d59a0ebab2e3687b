import { Box, Button, Skeleton } from '@mantine/core'
import { useDocumentTitle, useLocalStorage } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useParams, useSearch } from '@tanstack/react-router'
import {
  type CSSProperties,
  type KeyboardEvent,
  lazy,
  type PointerEvent,
  type RefObject,
  Suspense,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
} from 'react'
import { ApiProblem, read } from '../../api.ts'
import { Empty } from '../../components/empty.tsx'
import { useKeys } from '../../components/events.ts'
import { Problem } from '../../components/problem.tsx'
import { useDates } from '../../components/use-dates.ts'
import { useProject } from '../../session.ts'
import classes from './call.module.css'
import { CallBar } from './call-bar.tsx'
import type { Rail } from './call-page.ts'
import { callTitle } from './conversation.ts'
import { OpenCall } from './open-call.tsx'
import { useOpenCalls } from './open-calls.ts'

const VerdictBar = lazy(async () => ({ default: (await import('./queues.tsx')).VerdictBar }))

/** One call: its transcript, its analysis, its document. */
export function CallView() {
  const { call } = useParams({ from: '/p/$project/calls/$call' })
  // Remounts for another call, so that nothing of the previous one is left and it starts at the top.
  return <CallPanel key={call} id={call} />
}

function CallPanel({ id }: { id: string }) {
  const { of } = useProject()
  const { data, error, refetch } = useQuery(read(of.calls({ id })))
  // A cached call may have been deleted since.
  const isGone = error instanceof ApiProblem && error.status === 404
  const call = isGone ? undefined : data
  const details = useQuery(read(of.calls({ id }).details))
  const panel = useRef<HTMLElement>(null)
  const { view, set } = useSearch({ from: '/p/$project/calls/$call' })
  const isPage = view === 'page'
  const rail = useRail(panel)
  const [width, setWidth] = useCallWidth()
  const dates = useDates()
  useDocumentTitle(
    `${call ? `${callTitle(details.data?.numbers ?? call, details.data?.direction)}, ${dates.moment(call.createdAt)}` : `Call ${id}`} · Callbook`,
  )
  useEffect(() => {
    // The panel covers the list and what was focused there.
    if (!isShown(document.getElementById('calls-list'))) panel.current?.focus()
  }, [])
  return (
    <section
      ref={panel}
      id="call"
      className={classes.call}
      data-page={isPage || undefined}
      style={width === undefined ? undefined : ({ '--cb-call-width': `${width}px` } as CSSProperties)}
      aria-label={`Call ${id}`}
      tabIndex={-1}
    >
      {!isPage && <WidthHandle panel={panel} onWidth={setWidth} />}
      <CallBar call={call} details={details.data} rail={rail} isPage={isPage} />
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
          <OpenCall call={call} details={details.data} panel={panel} rail={rail} />
        </>
      ) : error ? (
        <div className={classes.part}>
          <Problem title="The call could not be loaded" error={error} onRetry={() => void refetch()} />
        </div>
      ) : (
        <CallSkeleton />
      )}
      {set !== undefined && (
        <Suspense>
          <VerdictBar id={id} />
        </Suspense>
      )}
    </section>
  )
}

function isShown(element: Element | null): boolean {
  return element?.checkVisibility({ visibilityProperty: true }) ?? false
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

/** As tall as what comes: the verdict or the timeline, and the first turns. */
function CallSkeleton() {
  return (
    <Box px={20} aria-busy="true" role="status" aria-label="Loading the call">
      <Skeleton height={56} mt={8} />
      <Skeleton height={12} width={240} my={32} />
      {[72, 48, 64, 40, 60].map((width, at) => (
        <Skeleton
          key={width}
          height={38}
          width={`${width}%`}
          mb={8}
          ml={at % 2 === 0 ? 'auto' : 0}
          radius={10}
        />
      ))}
    </Box>
  )
}

/** From this width on, facts stand beside the conversation. */
const besideFromPx = 820

/** Whether the facts are open. Beside the conversation that is remembered; above it, where they push it away, it is not. */
export function useRail(panel: RefObject<HTMLElement | null>): Rail {
  const isWide = useIsWide(panel)
  const [isOpenBeside, setIsOpenBeside] = useLocalStorage({
    key: 'callbook-call-rail',
    defaultValue: true,
    getInitialValueInEffect: false,
  })
  const [isOpenAbove, setIsOpenAbove] = useState(false)
  const isOpen = isWide ? isOpenBeside : isOpenAbove
  const toggle = () => (isWide ? setIsOpenBeside : setIsOpenAbove)(!isOpen)
  useKeys({ i: toggle })
  return { isWide, isBeside: isWide && isOpen, isOpen, toggle }
}

function useIsWide(panel: RefObject<HTMLElement | null>): boolean {
  const [isWide, setIsWide] = useState(false)
  useLayoutEffect(() => {
    const element = panel.current
    if (!element) return
    const measure = () => setIsWide(element.clientWidth >= besideFromPx)
    // Before the first paint, so that nothing moves.
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    return () => observer.disconnect()
  }, [panel])
  return isWide
}

/** As in call.module.css: the least of the call, and of the list beside it. */
const widthPxMin = 440
const listPxMin = 360
const stepPx = 32

/** The width of the panel beside the list, in px; undefined until a person has chosen one. */
export function useCallWidth() {
  return useLocalStorage<number | undefined>({
    key: 'callbook-call-width',
    getInitialValueInEffect: false,
  })
}

interface WidthHandleProps {
  panel: RefObject<HTMLElement | null>
  onWidth: (px: number) => void
}

/** The edge between the list and the call, to drag. */
export function WidthHandle({ panel, onWidth }: WidthHandleProps) {
  const { now, max } = useRange(panel)
  const startX = useRef(0)
  const widthNow = () => panel.current?.offsetWidth ?? 0
  const resize = (px: number) =>
    panel.current?.style.setProperty('--cb-call-width', `${Math.max(widthPxMin, Math.round(px))}px`)
  const onPointerMove = ({ currentTarget, pointerId, clientX }: PointerEvent<HTMLElement>) => {
    if (!currentTarget.hasPointerCapture(pointerId) || !panel.current || clientX === startX.current) return
    resize(panel.current.getBoundingClientRect().right - clientX)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const by = { ArrowLeft: stepPx, ArrowRight: -stepPx }[event.key]
    if (by === undefined) return
    event.preventDefault()
    resize(widthNow() + by)
    onWidth(widthNow())
  }
  return (
    <hr
      tabIndex={0}
      aria-orientation="vertical"
      aria-label="Width of the call"
      aria-valuemin={widthPxMin}
      aria-valuemax={max}
      aria-valuenow={now}
      className={classes.widthHandle}
      onPointerDown={(event) => {
        event.preventDefault()
        startX.current = event.clientX
        event.currentTarget.setPointerCapture(event.pointerId)
      }}
      onPointerMove={onPointerMove}
      // A mere click chooses no width.
      onPointerUp={({ clientX }) => clientX !== startX.current && onWidth(widthNow())}
      onKeyDown={onKeyDown}
    />
  )
}

/** The width of the panel, and the most that it can have. */
function useRange(panel: RefObject<HTMLElement | null>) {
  const [range, setRange] = useState({ now: widthPxMin, max: widthPxMin })
  useEffect(() => {
    const element = panel.current
    const parent = element?.parentElement
    if (!element || !parent) return
    const observer = new ResizeObserver(() =>
      setRange({ now: element.offsetWidth, max: Math.max(widthPxMin, parent.clientWidth - listPxMin) }),
    )
    for (const one of [element, parent]) observer.observe(one)
    return () => observer.disconnect()
  }, [panel])
  return range
}
