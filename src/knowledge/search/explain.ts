import type { ExplainedSearch } from '../../console/answers.ts'
import type { SearchResult } from './search.ts'

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
