import { useQuery } from '@tanstack/react-query'
import { read } from '../../api.ts'
import { asMilliseconds } from '../../components/figures.ts'
import { useProject } from '../../session.ts'
import { type LatencyPart, partLabels, partsOf, type SpokenLine, totalOf } from './conversation.ts'
import classes from './transcript.module.css'

const days = 30
const dayMs = 86_400_000
const freshForMs = 600_000
/** Of fewer, a percentile says little. */
const callsMin = 20
/** What a bar shows in full: all bars have one scale, so that they can be compared. */
const barMs = 2_000

interface TurnLatencyProps {
  latency: NonNullable<SpokenLine['latency']>
  /** Longer than this is slow; null while it is not known. */
  slowFromMs: number | null
}

/** What the caller waited for before the agent spoke. Its parts are said where it was slow, and else by the pointer. */
export function TurnLatency({ latency, slowFromMs }: TurnLatencyProps) {
  const total = totalOf(latency)
  if (total === null) return null
  const parts = partsOf(latency)
  const words = parts
    .map(({ part, ms }) => `${partLabels[part].toLowerCase()} ${asMilliseconds(ms)}`)
    .join(', ')
  const isSlow = slowFromMs !== null && total > slowFromMs
  const hint = isSlow
    ? `Slower than ${asMilliseconds(slowFromMs)}, the 95th percentile of the last 30 days`
    : words
  return (
    <p className={classes.latency} data-slow={isSlow || undefined} data-hint={hint || undefined}>
      <LatencyBar parts={parts} totalMs={total} />
      <span className={classes.latencyTotal}>
        <span className="cb-hidden">Answered after </span>
        {asMilliseconds(total)}
        {isSlow && ', slow'}
      </span>
      <span className={isSlow ? 'cb-truncate' : 'cb-hidden'}>{words}</span>
    </p>
  )
}

interface LatencyBarProps {
  parts: readonly LatencyPart[]
  /** With what none of the parts says; null if it is not known. */
  totalMs: number | null
  /** Whether it is as wide as what is above it. */
  isWide?: boolean
}

/** The parts in the order in which they follow each other, and what is left of the whole. */
export function LatencyBar({ parts, totalMs, isWide = false }: LatencyBarProps) {
  const sumMs = parts.reduce((sum, { ms }) => sum + ms, 0)
  const width = (ms: number) => ({ width: `${(ms / barMs) * 100}%` })
  return (
    <span className={classes.latencyBar} data-wide={isWide || undefined} aria-hidden>
      {parts.map(({ part, ms }) => (
        <span key={part} data-part={part} style={width(ms)} />
      ))}
      <span style={width(Math.max(0, (totalMs ?? 0) - sumMs))} />
    </span>
  )
}

/**
 * The latency that 95% of the project's newest calls stay below by their median, in milliseconds. Null until it is known,
 * and with too few calls. @param isNeeded whether the call has latencies at all
 */
export function useSlowLatency(isNeeded: boolean): number | null {
  const { of } = useProject()
  const from = new Date(Math.floor(Date.now() / dayMs - days) * dayMs).toISOString()
  const { data } = useQuery({
    ...read(of.metrics, { of: 'latencyMs', show: 'p95', from }),
    staleTime: freshForMs,
    enabled: isNeeded,
  })
  const [all] = data?.data ?? []
  return all && all.calls >= callsMin ? all.value : null
}
