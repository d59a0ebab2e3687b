import { Button, Popover, Stack, Text } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { unwrap } from '../../api.ts'
import { sayNotDone } from '../../components/acts.ts'
import { asCount, counted } from '../../components/figures.ts'
import type { PopupProps } from '../../components/popup.tsx'
import { Problem } from '../../components/problem.tsx'
import { useDates } from '../../components/use-dates.ts'
import { useProject } from '../../session.ts'
import { type ChosenFilters, filterKey } from './chosen-filters.ts'
import classes from './queue.module.css'
import { queuesQuery, useQueue, useQueueSteps, useStartQueue } from './queue-queries.ts'
import { useResolvedFilters } from './use-resolved-filters.ts'
import { Progress } from './verdict-bar.tsx'
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
  const leave = () => navigate({ to: '/p/$project/calls', params: { project: project.id }, search: {} })
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
    <section className={classes.queue} aria-label="Review">
      <div className={classes.name}>
        <strong className="cb-truncate" dir="auto">
          {queue?.name ?? 'Selected calls'}
        </strong>
        {queue && (
          <span className="cb-dimmed">
            {isDone ? 'All reviewed. ' : ''}Later calls are not in it. It is deleted after a week.
          </span>
        )}
      </div>
      {queue && <Progress reviewed={queue.reviewed} calls={queue.calls} />}
      <div className="cb-row">
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
      </div>
    </section>
  )
}
