import { asMilliseconds } from '../../components/figures.ts'
import type { SpokenLine } from './conversation.ts'
import { type LatencyPart, partLabels, partsOf, totalOf } from './latency.ts'
import classes from './transcript.module.css'

interface TurnLatencyProps {
  latency: NonNullable<SpokenLine['latency']>
  /** Longer than this is slow; null while it is not known. */
  slowFromMs: number | null
}

/** What the caller waited for before the agent spoke: the whole, and its parts. */
export function TurnLatency({ latency, slowFromMs }: TurnLatencyProps) {
  const total = totalOf(latency)
  const parts = partsOf(latency)
  if (total === null) return null
  const said = parts
    .map(({ part, ms }) => `${partLabels[part].toLowerCase()} ${asMilliseconds(ms)}`)
    .join(', ')
  const isSlow = slowFromMs !== null && total > slowFromMs
  return (
    <p className={classes.latency} data-slow={isSlow || undefined}>
      <LatencyBar parts={parts} />
      <span
        className={classes.latencyTotal}
        title={
          isSlow
            ? `Slower than ${asMilliseconds(slowFromMs)}, the 95th percentile of the last 30 days`
            : undefined
        }
      >
        <span className="cb-hidden">Answered after </span>
        {asMilliseconds(total)}
        {isSlow && ', slow'}
      </span>
      <span className={classes.latencyParts} title={said}>
        {said}
      </span>
    </p>
  )
}

/** The parts in proportion, in the order in which they follow each other. */
export function LatencyBar({ parts }: { parts: readonly LatencyPart[] }) {
  if (parts.length === 0) return null
  return (
    <span className={classes.latencyBar} aria-hidden>
      {parts.map(({ part, ms }) => (
        <span
          key={part}
          data-part={part}
          title={`${partLabels[part]}: ${asMilliseconds(ms)}`}
          style={{ flexGrow: ms }}
        />
      ))}
    </span>
  )
}
