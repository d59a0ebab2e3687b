import { createBuiltinEmbedder } from '../../../src/knowledge/embedding/builtin.ts'
import { fuseRanks } from '../../../src/knowledge/search/fusion.ts'
import { type RankWeights, weighEvidence } from '../../../src/knowledge/search/rank-passages.ts'
import { type Quality, qualityOf, rankOf } from '../retrieval/ranks.ts'
import type { Sample } from './samples.ts'

/** How well weights order a set, by words alone and with vectors. */
export interface Measured {
  keyword: Quality
  hybrid: Quality
}

export function measure(
  samples: readonly Sample[],
  weights: RankWeights,
  vectorWeight = createBuiltinEmbedder().rankWeight,
): Measured {
  const ranks = samples.map((sample) => {
    const labels = weighEvidence(sample.evidence, weights).map(({ label }) => label)
    const nearest = { labels: sample.vector.map(({ label }) => label), weight: vectorWeight }
    const fused = fuseRanks(labels.length > 0 ? [nearest, { labels, weight: 1 }] : [nearest])
    return {
      keyword: rankOfAnswer(sample, labels),
      hybrid: rankOfAnswer(
        sample,
        fused.map(({ label }) => label),
      ),
    }
  })
  return {
    keyword: qualityOf(ranks.map(({ keyword }) => keyword)),
    hybrid: qualityOf(ranks.map(({ hybrid }) => hybrid)),
  }
}

function rankOfAnswer({ answers, itemOf }: Sample, labels: readonly number[]): number | null {
  return rankOf(
    [...answers],
    labels.map((label) => ({ itemId: itemOf.get(label) ?? 0 })),
  )
}
