import type { TimelineEntry } from '../../../../calls/schemas.ts'

/** The names of steps, each once. A tool's answer has the name of its call. */
export function stepNames(steps: readonly TimelineEntry[]): string[] {
  const titles = steps.map(({ kind, name }) => {
    if (kind === 'transfer') return name ? `Transferred to ${name}` : 'Transferred'
    return name ?? (kind === 'other' ? 'Event' : 'Tool')
  })
  return [...new Set(titles)]
}
