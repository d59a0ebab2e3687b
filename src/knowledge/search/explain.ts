import type { SearchAnswer, SearchHit } from '../schemas.ts'

/** Milliseconds of a search. `vector` includes `embedding`; vector and keyword search run side by side. */
export interface TimeShares {
  keyword: number
  embedding: number
  vector: number
  fusion: number
  total: number
}

/** How a search found its answer. */
export interface SearchReport {
  shares: TimeShares
  /** Labels of chunks, best first; null for a list that was not used. */
  keywordLabels: readonly number[] | null
  vectorLabels: readonly number[] | null
  /** The labels of each passage of the answer. */
  passageLabels: readonly (readonly number[])[]
}

export interface SearchResult {
  answer: SearchAnswer
  report: SearchReport
}

export interface ExplainedHit extends SearchHit {
  /** Rank in each list, from 1; null when the hit is not in the list. */
  keywordRank: number | null
  vectorRank: number | null
}

export interface ExplainedSearch extends SearchAnswer {
  data: ExplainedHit[]
  /** Milliseconds; keyword and vector search run side by side. */
  shares: { embedding: number; vector: number; keyword: number; fusion: number }
}

/** An answer with each passage's rank in both lists, and with where the time went: for people. */
export function explain({ answer, report }: SearchResult): ExplainedSearch {
  const { shares, keywordLabels, vectorLabels, passageLabels } = report
  const keywordRanks = ranksOf(keywordLabels)
  const vectorRanks = ranksOf(vectorLabels)
  return {
    ...answer,
    data: answer.data.map((hit, at) => ({
      ...hit,
      keywordRank: bestRank(keywordRanks, passageLabels[at]),
      vectorRank: bestRank(vectorRanks, passageLabels[at]),
    })),
    shares: {
      embedding: shares.embedding,
      vector: shares.vector - shares.embedding,
      keyword: shares.keyword,
      fusion: shares.fusion,
    },
  }
}

function ranksOf(labels: readonly number[] | null): Map<number, number> {
  return new Map(labels?.map((label, at) => [label, at + 1]))
}

/** The best rank among the chunks that became one passage. */
function bestRank(ranks: Map<number, number>, labels: readonly number[] = []): number | null {
  const found = labels.flatMap((label) => ranks.get(label) ?? [])
  return found.length > 0 ? Math.min(...found) : null
}
