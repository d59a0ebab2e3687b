import { Box, Button, Skeleton } from '@mantine/core'
import { useDocumentTitle } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useParams, useSearch } from '@tanstack/react-router'
import { type CSSProperties, lazy, Suspense, useEffect, useRef } from 'react'
import { ApiProblem, read } from '../../api.ts'
import { Empty } from '../../components/empty.tsx'
import { Problem } from '../../components/problem.tsx'
import { useDates } from '../../components/use-dates.ts'
import { useProject } from '../../session.ts'
import classes from './call.module.css'
import { CallBar } from './call-bar.tsx'
import { callTitle } from './call-text.ts'
import { useCallWidth, WidthHandle } from './call-width.tsx'
import { OpenCall } from './open-call.tsx'
import { useOpenCalls } from './open-calls.ts'
import { useRail } from './use-rail.ts'

const VerdictBar = lazy(async () => ({ default: (await import('./verdict-bar.tsx')).VerdictBar }))

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
  const isPage = useSearch({ from: '/p/$project/calls/$call' }).view === 'page'
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
      <Suspense>
        <VerdictBar id={id} />
      </Suspense>
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
