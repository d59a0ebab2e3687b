import type { ExplainedHit, ExplainedSearch } from '../../console/answers.ts'
import type { SearchAnswer, SearchHit } from '../schemas.ts'
import type { SearchTrace } from './search.ts'

/** An answer with what each list contributed to it. A passage of several chunks has the rank of its best. */
export function explain({ data, mode, tookMs }: SearchAnswer, trace: SearchTrace): ExplainedSearch {
  const { embedding, vector, keyword, fusion } = trace.shares
  const [byKeyword, byVector] = [ranksIn(trace.keyword), ranksIn(trace.vector)]
  const explainHit = (hit: SearchHit, position: number): ExplainedHit => {
    const labels = trace.passages[position] ?? []
    return { ...hit, keywordRank: best(labels, byKeyword), vectorRank: best(labels, byVector) }
  }
  return { data: data.map(explainHit), mode, tookMs, shares: { embedding, vector, keyword, fusion } }
}

/** From 1. */
function ranksIn(labels: readonly number[]): Map<number, number> {
  return new Map(labels.map((label, position) => [label, position + 1]))
}

/** Null when the list has none of them. */
function best(labels: readonly number[], ranks: ReadonlyMap<number, number>): number | null {
  const found = labels.flatMap((label) => ranks.get(label) ?? [])
  return found.length > 0 ? Math.min(...found) : null
}
