import type { ExplainedSearch } from '../../../../knowledge/search/explain.ts'

type Timed = Pick<ExplainedSearch, 'shares' | 'starts' | 'tookMs'>

interface Segment {
  name: keyof ExplainedSearch['shares']
  /** Of two lines for what runs side by side: 0 is by vector, 1 by keyword; null spans both. */
  line: 0 | 1 | null
  /** Parts of the whole time, from 0 to 1. */
  from: number
  width: number
}

/** When the parts of a search ran, for a bar as long as the search took. */
export function timeSegments({ shares, starts, tookMs }: Timed): Segment[] {
  const ends = [
    shares.embedding + shares.vector,
    starts.keyword + shares.keyword,
    starts.fusion + shares.fusion,
  ]
  const wholeMs = Math.max(0.001, tookMs, ...ends)
  const segment = (name: Segment['name'], line: Segment['line'], fromMs: number): Segment => ({
    name,
    line,
    from: fromMs / wholeMs,
    width: shares[name] / wholeMs,
  })
  return [
    segment('embedding', 0, 0),
    segment('vector', 0, shares.embedding),
    segment('keyword', 1, starts.keyword),
    segment('fusion', null, starts.fusion),
  ].filter(({ width }) => width > 0)
}
