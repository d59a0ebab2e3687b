import { Skeleton, Stack } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import type { Preview as PreviewOf } from '../../../../alerts/preview.ts'
import { fieldErrors } from '../../components/field-errors.ts'
import { counted } from '../../components/figures.ts'
import { Panel } from '../../components/panel.tsx'
import { Problem } from '../../components/problem.tsx'
import { useDates } from '../../components/use-dates.ts'
import { useProject } from '../../session.ts'
import { formatOf, linePath, scaleOf } from '../charts/chart.ts'
import plot from '../charts/charts.module.css'
import { type AlertDraft, limitsOf, previewRule, valuesSeen } from './alert-draft.ts'
import { previewQuery } from './alert-queries.ts'
import { lastedInWords } from './alert-words.ts'
import classes from './alerts.module.css'
import { AlertState } from './alerts-view.tsx'

const typingMs = 400
const listedMax = 5
const labels = 5
/** In hours: what fired for a moment is seen, too. */
const firedWidthMin = 3

interface PreviewProps {
  draft: AlertDraft
  /** In the unit in which it is typed; undefined while there is none. */
  limit: number | undefined
}

/** When the rule would have fired in the last 30 days, while it is edited. */
export function Preview({ draft, limit }: PreviewProps) {
  const { of } = useProject()
  // Memoised: a new object each time would be debounced for ever.
  const typed = useMemo(() => (limit === undefined ? null : { draft, limit }), [draft, limit])
  const [edited] = useDebouncedValue(typed, typingMs)
  const shown = edited ?? { draft, limit: 0 }
  const { data, error, isPlaceholderData, refetch } = useQuery({
    ...previewQuery(of, previewRule(shown.draft, shown.limit)),
    enabled: edited !== null,
  })
  const errors = Object.values(fieldErrors(error))
  return (
    <div className={classes.preview}>
      <Panel title="Last 30 days">
        <Stack data-stale={isPlaceholderData || undefined} aria-busy={!data && !error}>
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
                <strong>{describeFired(data)}</strong>
              </p>
              <PreviewChart preview={data} {...shown} />
              <FiredTimes fired={data.fired} />
            </>
          ) : (
            <Skeleton height={320} />
          )}
        </Stack>
      </Panel>
    </div>
  )
}

/** `Would have fired 3 times, for 4h in all.` */
function describeFired({ fired, data }: PreviewOf): string {
  if (data.every(({ state }) => state === 'no_data')) return 'There were too few calls to say anything.'
  if (fired.length === 0) return 'Would not have fired.'
  const last = data.at(-1)?.at ?? ''
  const ms = fired.reduce((sum, { from, until }) => sum + Date.parse(until ?? last) - Date.parse(from), 0)
  const times = fired.length === 1 ? 'once' : fired.length === 2 ? 'twice' : counted(fired.length, 'time')
  return `Would have fired ${times}, for ${lastedInWords(last, Date.parse(last) + ms)} in all.`
}

/** The values of 30 days with the limits, and where the rule would have fired. */
function PreviewChart({ preview, draft, limit }: { preview: PreviewOf; draft: AlertDraft; limit: number }) {
  const dates = useDates()
  const { short, scale: unit } = formatOf(draft)
  const limits = Object.entries(limitsOf(draft, limit))
  const { data, fired } = preview
  const values = valuesSeen(preview, draft)
  const scale = scaleOf([...values.flatMap((value) => value ?? []), ...limits.map(([, at]) => at)], unit)
  const start = Date.parse(data[0]?.at ?? '')
  const end = Date.parse(data.at(-1)?.at ?? '')
  const xOf = (at: string | null) =>
    (((at === null ? end : Date.parse(at)) - start) / (end - start || 1)) * data.length
  const labelled = data.filter((_, at) => at % Math.ceil(data.length / labels) === 0)
  return (
    <figure className={plot.chart}>
      <figcaption className="cb-hidden">The last 30 days, hour by hour, with the limits.</figcaption>
      <div className={plot.columns} aria-hidden>
        <div className={plot.lines}>
          {scale.lines.map((line) => (
            <span key={line} style={{ bottom: `${scale.placeOf(line)}%` }}>
              {short(line)}
            </span>
          ))}
        </div>
        <svg
          className={`${plot.line} ${classes.curve}`}
          viewBox={`0 0 ${data.length} 100`}
          preserveAspectRatio="none"
          aria-hidden
        >
          {fired.map(({ state, from, until }) => (
            <rect
              key={from}
              data-state={state}
              x={xOf(from)}
              width={Math.max(firedWidthMin, xOf(until) - xOf(from))}
              height={100}
            />
          ))}
          {limits.map(([name, at]) => (
            <line
              key={name}
              data-limit={name}
              x2={data.length}
              y1={100 - scale.placeOf(at)}
              y2={100 - scale.placeOf(at)}
            />
          ))}
          <path d={linePath(values, scale)} />
        </svg>
        <p className={classes.days}>
          {labelled.map(({ at }) => (
            <span key={at}>{dates.day(at, end)}</span>
          ))}
        </p>
      </div>
    </figure>
  )
}

function FiredTimes({ fired }: Pick<PreviewOf, 'fired'>) {
  const dates = useDates()
  if (fired.length === 0) return null
  const newest = fired.slice(-listedMax).reverse()
  return (
    <Stack component="ul" gap="xs" m={0} p={0} style={{ listStyle: 'none' }}>
      {newest.map(({ state, from, until }) => (
        <li key={from} className="cb-row">
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
    </Stack>
  )
}
