import { Button } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { api, unwrap } from '../../api.ts'
import { sayNotDone } from '../../components/say-not-done.ts'
import { useDates } from '../../components/use-dates.ts'
import { callKeys } from '../../query-keys.ts'
import { useProject } from '../../session.ts'
import type { ChosenFilters } from './chosen-filters.ts'
import classes from './queue.module.css'
import { useQueue, useQueueSteps } from './queue-queries.ts'
import { Progress } from './verdict-bar.tsx'

/** In place of the filters, when the list shows a queue of reviews or calls that somebody else has selected. */
export default function QueueBar({ filters }: { filters: ChosenFilters }) {
  const project = useProject()
  const navigate = useNavigate()
  const queryClient = useQueryClient()
  const dates = useDates()
  const queue = useQueue(filters.set)
  const { begin } = useQueueSteps()
  const leave = () => navigate({ to: '/p/$project/calls', params: { project: project.id }, search: {} })
  const end = useMutation({
    mutationFn: () =>
      unwrap(
        api
          .projects({ project: project.id })
          ['call-sets']({ id: filters.set ?? '' })
          .delete(),
      ),
    onError: (error) => sayNotDone('The queue was not ended', error),
    onSuccess: async () => {
      await leave()
      await queryClient.invalidateQueries({ queryKey: callKeys.queues(project.id) })
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
            {isDone ? 'All reviewed. ' : ''}Calls as they were on {dates.moment(queue.createdAt)}, kept for a
            week.
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
