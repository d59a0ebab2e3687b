import type { TimelineEntry } from '../../../../calls/schemas.ts'

type Latency = NonNullable<TimelineEntry['latencyMs']>
type Part = Exclude<keyof Latency, 'total'>

/** In the order in which they follow each other. */
export const partLabels: Record<Part, string> = {
  endOfTurn: 'End of turn',
  transcription: 'Transcription',
  model: 'Model',
  tool: 'Tools',
  voice: 'Voice',
}

export interface LatencyPart {
  part: Part
  ms: number
}

/** The parts that the platform says. */
export function partsOf(latency: Latency): LatencyPart[] {
  return parts.flatMap((part) => {
    const ms = latency[part]
    return typeof ms === 'number' && ms > 0 ? [{ part, ms }] : []
  })
}

/** What the caller waited; the sum of the parts where the platform does not say it. Null if it says nothing. */
export function totalOf(latency: Latency): number | null {
  if (typeof latency.total === 'number') return latency.total
  const said = partsOf(latency)
  return said.length > 0 ? said.reduce((sum, { ms }) => sum + ms, 0) : null
}

/** The median of each part over the turns that have it. */
export function medianParts(timeline: readonly TimelineEntry[]): LatencyPart[] {
  const said = timeline.flatMap(({ latencyMs }) => (latencyMs ? partsOf(latencyMs) : []))
  return parts.flatMap((part) => {
    const all = said.filter((one) => one.part === part).map(({ ms }) => ms)
    const middle = all.sort((a, b) => a - b)[Math.floor((all.length - 1) / 2)]
    return middle === undefined ? [] : [{ part, ms: middle }]
  })
}

const parts: readonly Part[] = ['endOfTurn', 'transcription', 'model', 'tool', 'voice']
