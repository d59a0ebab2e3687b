import { Kbd, UnstyledButton } from '@mantine/core'
import { IconArrowBackUp, IconCheck, IconCircleCheck, IconX } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { useRef } from 'react'
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
  const isFirst = last === undefined && openPrevious === null
  const verdicts = [
    { letter: 'S', label: 'Success', icon: IconCheck, act: () => void judge({ evaluation: 'success' }) },
    { letter: 'D', label: 'Failed', icon: IconX, act: () => void judge({ evaluation: 'fail' }) },
    { letter: 'R', label: 'Reviewed', icon: IconCircleCheck, act: () => void judge({ reviewed: true }) },
  ].map((verdict) => ({ ...verdict, refusal }))
  const back = { letter: 'B', label: 'Back', icon: IconArrowBackUp, act: goBack }
  const buttons = [...verdicts, { ...back, refusal: isFirst ? 'This is the first call.' : null }]
  useKeys(
    Object.fromEntries(
      buttons.filter((one) => one.refusal === null).map(({ letter, act }) => [letter.toLowerCase(), act]),
    ),
  )
  return (
    <section className={classes.verdicts} aria-label="Queue">
      <Progress reviewed={queue?.reviewed} calls={queue?.calls} />
      <div className={classes.keys}>
        {buttons.map(({ letter, label, icon: Icon, act, refusal: reason }) => (
          <UnstyledButton
            key={letter}
            className={classes.verdict}
            aria-disabled={reason !== null}
            data-hint={reason ?? undefined}
            onClick={reason === null ? act : undefined}
          >
            <Icon size={14} />
            {label}
            <Kbd size="xs">{letter}</Kbd>
          </UnstyledButton>
        ))}
      </div>
    </section>
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
