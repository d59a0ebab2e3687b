import { Skeleton } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import type { Preview } from '../../../../alerts/preview.ts'
import { fieldErrors } from '../../components/field-errors.ts'
import { counted } from '../../components/figures.ts'
import { Panel } from '../../components/panel.tsx'
import { Problem } from '../../components/problem.tsx'
import { useDates } from '../../components/use-dates.ts'
import { useProject } from '../../session.ts'
import { type AlertDraft, previewRule } from './alert-draft.ts'
import { previewQuery } from './alert-queries.ts'
import { AlertState } from './alert-state.tsx'
import { lastedInWords } from './alert-words.ts'
import classes from './alerts.module.css'
import { PreviewChart } from './preview-chart.tsx'

const typingMs = 400
const listedMax = 5

interface PreviewPanelProps {
  draft: AlertDraft
  /** In the unit in which it is typed; undefined while there is none. */
  limit: number | undefined
}

/** When the rule would have fired in the last 30 days, while it is edited. */
export function PreviewPanel({ draft, limit }: PreviewPanelProps) {
  const { id: project } = useProject()
  // Memoised: a new object each time would be debounced for ever.
  const typed = useMemo(() => (limit === undefined ? null : previewRule(draft, limit)), [draft, limit])
  const [rule] = useDebouncedValue(typed, typingMs)
  const shown = rule ?? previewRule(draft, 0)
  const { data, error, isPlaceholderData, refetch } = useQuery({
    ...previewQuery(project, shown),
    enabled: rule !== null,
  })
  const errors = Object.values(fieldErrors(error))
  return (
    <div className={classes.preview}>
      <Panel title="Last 30 days">
        <div className="cb-stack" data-stale={isPlaceholderData || undefined} aria-busy={!data && !error}>
          {error && errors.length > 0 ? (
            <p className="cb-dimmed" role="status">
              {errors.join(' ')}
            </p>
          ) : error && !data ? (
            <Problem
              error={error}
              title="The last 30 days could not be read"
              onRetry={() => void refetch()}
            />
          ) : limit === undefined && !data ? (
            <p className="cb-dimmed" role="status">
              Enter a limit to see when it would have fired.
            </p>
          ) : data ? (
            <>
              <p role="status">
                <strong>{firedInWords(data)}</strong>
              </p>
              <PreviewChart preview={data} rule={shown} />
              <FiredTimes fired={data.fired} />
            </>
          ) : (
            <Skeleton height={320} />
          )}
        </div>
      </Panel>
    </div>
  )
}

/** `Would have fired 3 times, for 4h in all.` */
function firedInWords({ fired, data }: Preview): string {
  if (data.every(({ state }) => state === 'no_data')) return 'There were too few calls to say anything.'
  if (fired.length === 0) return 'Would not have fired.'
  const last = data.at(-1)?.at ?? ''
  const ms = fired.reduce((sum, { from, until }) => sum + Date.parse(until ?? last) - Date.parse(from), 0)
  const times = fired.length === 1 ? 'once' : fired.length === 2 ? 'twice' : counted(fired.length, 'time')
  return `Would have fired ${times}, for ${lastedInWords(last, Date.parse(last) + ms)} in all.`
}

/** The newest of them, in words. */
function FiredTimes({ fired }: Pick<Preview, 'fired'>) {
  const dates = useDates()
  if (fired.length === 0) return null
  return (
    <ul className={classes.times}>
      {fired
        .slice(-listedMax)
        .reverse()
        .map(({ state, from, until }) => (
          <li key={from}>
            <AlertState state={state} />
            <span className="cb-figure">{dates.moment(from)}</span>
            <span className="cb-dimmed cb-figure">
              {until === null ? 'until now' : `for ${lastedInWords(from, until)}`}
            </span>
          </li>
        ))}
      {fired.length > listedMax && (
        <li className="cb-dimmed">and {counted(fired.length - listedMax, 'time')} before</li>
      )}
    </ul>
  )
}
