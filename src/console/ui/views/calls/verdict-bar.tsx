import { Kbd, UnstyledButton } from '@mantine/core'
import { IconArrowBackUp, IconCheck, IconCircleCheck, IconX } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { type ReactNode, useRef } from 'react'
import type { ReviewChange } from '../../../../calls/review/schemas.ts'
import { asCount } from '../../components/figures.ts'
import { useProject, useRefusal } from '../../session.ts'
import { neighboursQuery } from './call-queries.ts'
import { readFilters } from './chosen-filters.ts'
import { useOpenCalls } from './open-calls.ts'
import classes from './queue.module.css'
import { useJudged, useQueue, useQueueSteps } from './queue-queries.ts'
import { useReview } from './review-queries.ts'
import { useKeys } from './use-keys.ts'

/** Below a call that was opened from a queue: a key for each verdict, which opens the next call, and how far the queue is. */
export function VerdictBar({ id }: { id: string }) {
  const filters = readFilters(useSearch({ strict: false }))
  return filters.set === undefined ? null : <Verdicts id={id} filters={{ ...filters, set: filters.set }} />
}

function Verdicts({
  id,
  filters,
}: {
  id: string
  filters: ReturnType<typeof readFilters> & { set: string }
}) {
  const project = useProject()
  const queue = useQueue(filters.set)
  const refusal = useRefusal('change')
  const { mutateAsync } = useReview(id)
  const { judged, setJudged } = useJudged(filters.set)
  const { begin, next, forgetNext } = useQueueSteps()
  const { openCall, openPrevious } = useOpenCalls()
  // Asked for while the person reads, so that the next call opens at once.
  useQuery(neighboursQuery(project.id, id, { ...filters, reviewed: 'false' }))
  // Of this call: until the next one is shown, another verdict would take its place.
  const isJudging = useRef(false)
  const judge = async (change: ReviewChange) => {
    if (isJudging.current) return
    isJudging.current = true
    // What goes wrong is told where the review is changed.
    const saved = mutateAsync(change).catch(() => undefined)
    setJudged([...judged.filter((other) => other !== id), id])
    forgetNext()
    const after = await next(id, filters).catch(() => null)
    if (after !== null) return openCall(after)
    await saved
    await begin(filters)
    isJudging.current = false
  }
  const last = judged.filter((other) => other !== id).at(-1)
  const goBack = () => {
    if (last === undefined) return openPrevious?.()
    setJudged(judged.slice(0, judged.lastIndexOf(last)))
    openCall(last)
  }
  const verdicts = {
    s: () => void judge({ evaluation: 'success' }),
    d: () => void judge({ evaluation: 'fail' }),
    r: () => void judge({ reviewed: true }),
  }
  useKeys({ b: goBack, ...(refusal === null ? verdicts : {}) })
  const part = { refusal }
  return (
    <section className={classes.verdicts} aria-label="Queue">
      <Progress reviewed={queue?.reviewed} calls={queue?.calls} />
      <div className={classes.keys}>
        <Verdict {...part} letter="S" label="Success" icon={<IconCheck size={14} />} onClick={verdicts.s} />
        <Verdict {...part} letter="D" label="Failed" icon={<IconX size={14} />} onClick={verdicts.d} />
        <Verdict
          {...part}
          letter="R"
          label="Reviewed"
          icon={<IconCircleCheck size={14} />}
          onClick={verdicts.r}
        />
        <Verdict
          refusal={last === undefined && openPrevious === null ? 'This is the first call.' : null}
          letter="B"
          label="Back"
          icon={<IconArrowBackUp size={14} />}
          onClick={goBack}
        />
      </div>
    </section>
  )
}

interface VerdictProps {
  letter: string
  label: string
  icon: ReactNode
  /** Why it cannot be used; null when it can. */
  refusal: string | null
  onClick: () => void
}

function Verdict({ letter, label, icon, refusal, onClick }: VerdictProps) {
  return (
    <UnstyledButton
      className={classes.verdict}
      aria-disabled={refusal !== null}
      data-hint={refusal ?? undefined}
      onClick={refusal === null ? onClick : undefined}
    >
      {icon}
      {label}
      <Kbd size="xs">{letter}</Kbd>
    </UnstyledButton>
  )
}

/** `12 of 62 reviewed`, and the same as a bar. */
export function Progress({
  reviewed = 0,
  calls,
}: {
  reviewed: number | undefined
  calls: number | undefined
}) {
  return (
    <div className={classes.progress}>
      <span role="status" className="cb-figure">
        {calls === undefined ? '…' : `${asCount(reviewed)} of ${asCount(calls)} reviewed`}
      </span>
      <progress value={reviewed} max={Math.max(1, calls ?? 1)} aria-hidden />
    </div>
  )
}
