import type { Ratio } from './rounds.ts'

export interface Row {
  what: string
  measured: string
  target: string
  /** Null for a figure that is only reported. */
  isMet: boolean | null
}

export function printRow({ what, measured, target, isMet }: Row): void {
  const verdict = isMet === null ? '      ' : isMet ? 'ok    ' : 'MISSED'
  process.stdout.write(`${verdict}  ${what.padEnd(52)}  ${target.padEnd(22)}  ${measured}\n`)
}

export function formatRates({ service, ceiling, ratio, ratios }: Ratio): string {
  const [least, most] = [Math.min(...ratios), Math.max(...ratios)]
  const spread = `${ratio.toFixed(3)} × (rounds ${least.toFixed(2)}–${most.toFixed(2)})`
  const rates = `${formatCount(service.requestsPerSecond)} of ${formatCount(ceiling.requestsPerSecond)} requests/s`
  const [ours, theirs] = [service.processorUsPerRequest, ceiling.processorUsPerRequest]
  return `${spread}, ${rates}; processor ${ours.toFixed(0)} against ${theirs.toFixed(0)} us a request`
}

export function formatCount(value: number): string {
  return value >= 100 ? Math.round(value).toLocaleString('en') : value.toFixed(1)
}
