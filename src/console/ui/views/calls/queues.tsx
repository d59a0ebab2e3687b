import { Button, Group, Kbd, Popover, Stack, Text } from '@mantine/core'
import { IconArrowBackUp, IconCheck, IconCircleCheck, IconX } from '@tabler/icons-react'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useRef } from 'react'
import type { ReviewChange } from '../../../../calls/review/schemas.ts'
import { unwrap } from '../../api.ts'
import { sayNotDone } from '../../components/acts.ts'
import { useKeys } from '../../components/events.ts'
import { asCount, counted } from '../../components/figures.ts'
import type { PopupProps } from '../../components/popup.tsx'
import { Problem } from '../../components/problem.tsx'
import { to } from '../../components/to.ts'
import { useDates } from '../../components/use-dates.ts'
import { useProject, useRefusal } from '../../session.ts'
import { neighboursQuery } from './call-queries.ts'
import classes from './calls.module.css'
import { type ChosenFilters, filterKey, readFilters } from './chosen-filters.ts'
import { useResolvedFilters } from './filter-fields.tsx'
import { useOpenCalls } from './open-calls.ts'
import { queuesQuery, useJudged, useQueue, useQueueSteps, useStartQueue } from './queue-queries.ts'
import { useReview } from './review-queries.ts'
import { savedFilters, viewsQuery } from './view-queries.ts'

/** As many as one person reviews one by one. */
const queueCallsMax = 1_000

interface ReviewPopoverProps extends PopupProps {
  filters: ChosenFilters
  /** How many calls the list has; null when they are too many to count. */
  total: number | null
}

/** Starts a queue of reviews with the calls of the list, and goes on with another. */
export function ReviewPopover({ filters, total, target, opened, onChange }: ReviewPopoverProps) {
  const project = useProject()
  const dates = useDates()
  const resolvedFilters = useResolvedFilters(filters)
  const { data: queues = [] } = useQuery(queuesQuery(project.id))
  const { data: views = [] } = useQuery(viewsQuery(project.id, 'calls'))
  const start = useStartQueue()
  const { begin } = useQueueSteps()
  const view = views.find(({ query }) => filterKey(savedFilters(query)) === filterKey(filters))
  const name = view?.name ?? `Calls, ${dates.moment(new Date().toISOString())}`
  const isAll = total !== null && total <= queueCallsMax
  return (
    <Popover opened={opened} onChange={onChange} position="bottom-end" trapFocus returnFocus width={300}>
      <Popover.Target>{target}</Popover.Target>
      <Popover.Dropdown aria-label="Review">
        <Stack gap="sm">
          {queues.length > 0 && (
            <Stack gap={0}>
              {queues.map(({ id, name: title, calls, reviewed }) => (
                <Button
                  key={id}
                  variant="subtle"
                  color="gray"
                  size="xs"
                  fullWidth
                  justify="space-between"
                  rightSection={`${asCount(reviewed)} of ${asCount(calls)}`}
                  onClick={() => {
                    onChange(false)
                    void begin({ set: id })
                  }}
                >
                  <bdi>{title}</bdi>
                </Button>
              ))}
            </Stack>
          )}
          <Text size="xs" c="dimmed">
            A queue keeps these calls as they are now, and opens the next one after each verdict.
          </Text>
          {start.error && <Problem error={start.error} />}
          <Button
            fullWidth
            size="xs"
            loading={start.isPending}
            disabled={total === 0}
            onClick={() =>
              start.mutate(
                { name, filters: resolvedFilters, order: filters.order },
                { onSuccess: () => onChange(false) },
              )
            }
          >
            {isAll ? `Review ${counted(total, 'call')}` : `Review the first ${asCount(queueCallsMax)}`}
          </Button>
        </Stack>
      </Popover.Dropdown>
    </Popover>
  )
}

/** In place of the filters, when the list shows a queue of reviews or calls that somebody else has selected. */
export function QueueBar({ filters }: { filters: ChosenFilters }) {
  const project = useProject()
  const navigate = useNavigate()
  const queryClient = useQueryClient()
  const queue = useQueue(filters.set)
  const { begin } = useQueueSteps()
  const leave = () => navigate({ ...to.calls, search: {} })
  const end = useMutation({
    mutationFn: () => unwrap(project.of['call-sets']({ id: filters.set ?? '' }).delete()),
    onError: (error) => sayNotDone('The queue was not ended', error),
    onSuccess: async () => {
      await leave()
      await queryClient.invalidateQueries({ queryKey: queuesQuery(project.id).queryKey })
    },
  })
  const isDone = queue !== undefined && queue.reviewed >= queue.calls
  return (
    <Group component="section" className="cb-box" gap="8px 16px" px="sm" py="xs" aria-label="Review">
      <Stack gap={0} flex="1 1 220px" miw={0}>
        <strong className="cb-truncate" dir="auto">
          {queue?.name ?? 'Selected calls'}
        </strong>
        {queue && (
          <span className="cb-note">
            {isDone ? 'All reviewed. ' : ''}Later calls are not in it. It is deleted after a week.
          </span>
        )}
      </Stack>
      {queue && <Progress reviewed={queue.reviewed} calls={queue.calls} />}
      <Group gap="xs">
        {queue && !isDone && (
          <Button size="xs" onClick={() => void begin(filters)}>
            {queue.reviewed > 0 ? 'Continue' : 'Start'}
          </Button>
        )}
        <Button size="xs" variant="default" onClick={() => void leave()}>
          All calls
        </Button>
        {queue && (
          <Button
            size="xs"
            variant="subtle"
            color="gray"
            loading={end.isPending}
            onClick={() => end.mutate()}
          >
            End queue
          </Button>
        )}
      </Group>
    </Group>
  )
}

/** Below a call that was opened from a queue: a key for each verdict, which opens the next call, and how far the queue is. */
export function VerdictBar({ id }: { id: string }) {
  const filters = readFilters(useSearch({ strict: false }))
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
      <Group gap={4}>
        {buttons.map(({ letter, label, icon: Icon, act, refusal: reason }) => (
          <Button
            key={letter}
            variant="default"
            size="xs"
            px={8}
            leftSection={<Icon size={14} />}
            rightSection={<Kbd size="xs">{letter}</Kbd>}
            aria-disabled={reason !== null}
            data-disabled={reason !== null || undefined}
            data-hint={reason ?? undefined}
            onClick={reason === null ? act : undefined}
          >
            {label}
          </Button>
        ))}
      </Group>
    </section>
  )
}

/** `12 of 62 reviewed`, and the same as a bar. */
function Progress({ reviewed = 0, calls }: { reviewed?: number | undefined; calls: number | undefined }) {
  return (
    <Group gap="xs" wrap="nowrap" fw={500}>
      <span role="status" className="cb-figure">
        {calls === undefined ? '…' : `${asCount(reviewed)} of ${asCount(calls)} reviewed`}
      </span>
      <progress value={reviewed} max={Math.max(1, calls ?? 1)} style={{ width: 72 }} aria-hidden />
    </Group>
  )
}
