import type { Memory } from './memory.ts'
import type { Latency } from './paced.ts'
import type { Ratio } from './rounds.ts'

export interface Row {
  what: string
  measured: string
  target: string
  /** Null for a figure that is only reported. */
  isMet: boolean | null
}

const whatChars = 58
const targetChars = 20

export function printRow({ what, measured, target, isMet }: Row): void {
  const verdict = isMet === null ? '      ' : isMet ? 'ok    ' : 'MISSED'
  process.stdout.write(`${verdict}  ${what.padEnd(whatChars)}  ${target.padEnd(targetChars)}  ${measured}\n`)
}

export function formatRates({ service, ceiling, ratio, ratios }: Ratio): string {
  const [least, most] = [Math.min(...ratios), Math.max(...ratios)]
  const spread = `${ratio.toFixed(3)} × (rounds ${least.toFixed(2)}–${most.toFixed(2)})`
  const rates = `${formatCount(service.requestsPerSecond)} of ${formatCount(ceiling.requestsPerSecond)} requests/s`
  const [ours, theirs] = [service.processorUsPerRequest, ceiling.processorUsPerRequest]
  return `${spread}, ${rates}; processor ${formatCount(ours)} against ${formatCount(theirs)} us a request`
}

export function formatLatency({ p50, p99, max, count, failed }: Latency): string {
  const failures = failed > 0 ? `, ${failed} FAILED` : ''
  return `p50 ${p50.toFixed(2)}, p99 ${p99.toFixed(2)}, max ${max.toFixed(1)} ms of ${count}${failures}`
}

export function formatMemory({ residentMb, residentMbMax, ownMb }: Memory): string {
  return `resident ${residentMb} MB (most ${residentMbMax}), its own ${ownMb} MB`
}

export function formatCount(value: number): string {
  return value >= 1_000 ? Math.round(value).toLocaleString('en') : value.toFixed(value >= 100 ? 0 : 1)
}
