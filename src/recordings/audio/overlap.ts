import type { Span } from '../../calls/sound/figures.ts'

/**
 * Tells whether a stretch of time overlaps with one of the spans. Each must begin no earlier than the one before.
 * @param spans ascending, without overlaps
 */
export function overlapWith(spans: readonly Span[]): (from: number, to: number) => boolean {
  let next = 0
  return (from, to) => {
    while ((spans[next]?.[1] ?? Number.POSITIVE_INFINITY) <= from) next++
    return (spans[next]?.[0] ?? Number.POSITIVE_INFINITY) < to
  }
}
