import { Button, Popover, UnstyledButton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { asCount, counted } from '../../components/figures.ts'
import type { PopupProps } from '../../components/popup.tsx'
import { Problem } from '../../components/problem.tsx'
import { useDates } from '../../components/use-dates.ts'
import { useProject } from '../../session.ts'
import classes from './calls.module.css'
import { type ChosenFilters, nameOf } from './chosen-filters.ts'
import { queuesQuery, useQueueSteps, useStartQueue } from './queue-queries.ts'
import { useAsked } from './use-asked.ts'
import { savedFilters, viewsQuery } from './view-queries.ts'

/** As many as one person reviews one by one. */
const queueCallsMax = 1_000

interface ReviewPopoverProps extends PopupProps {
  filters: ChosenFilters
  /** How many calls the list has; null when they are too many to count. */
  total: number | null
}

/** Starts a queue of reviews with the calls of the list, and goes on with another. */
export default function ReviewPopover({ filters, total, target, opened, onChange }: ReviewPopoverProps) {
  const project = useProject()
  const dates = useDates()
  const asked = useAsked(filters)
  const { data: queues = [] } = useQuery(queuesQuery(project.id))
  const { data: views = [] } = useQuery(viewsQuery(project.id, 'calls'))
  const start = useStartQueue()
  const { begin } = useQueueSteps()
  const view = views.find(({ query }) => nameOf(savedFilters(query)) === nameOf(filters))
  const name = view?.name ?? `Calls, ${dates.moment(new Date().toISOString())}`
  const isAll = total !== null && total <= queueCallsMax
  return (
    <Popover opened={opened} onChange={onChange} position="bottom-end" trapFocus returnFocus width={300}>
      <Popover.Target>{target}</Popover.Target>
      <Popover.Dropdown aria-label="Review">
        {queues.length > 0 && (
          <ul className={classes.views}>
            {queues.map(({ id, name, calls, reviewed }) => (
              <li key={id}>
                <UnstyledButton
                  className={classes.view}
                  onClick={() => {
                    onChange(false)
                    void begin({ set: id })
                  }}
                >
                  <span className="cb-truncate" dir="auto">
                    {name}
                  </span>
                  <span className={`cb-dimmed cb-figure ${classes.viewEnd}`}>
                    {asCount(reviewed)} of {asCount(calls)}
                  </span>
                </UnstyledButton>
              </li>
            ))}
          </ul>
        )}
        <p className={classes.explained}>
          A queue keeps these calls as they are now, and opens the next one after each verdict.
        </p>
        {start.error && <Problem error={start.error} />}
        <Button
          fullWidth
          size="xs"
          loading={start.isPending}
          disabled={total === 0}
          onClick={() =>
            start.mutate({ name, filters: asked, order: filters.order }, { onSuccess: () => onChange(false) })
          }
        >
          {isAll ? `Review ${counted(total, 'call')}` : `Review the first ${asCount(queueCallsMax)}`}
        </Button>
      </Popover.Dropdown>
    </Popover>
  )
}
