/**
 * Dampens the difference between high ranks. Cormack, Clarke and Büttcher (SIGIR 2009) take 60 for lists of a
 * thousand; ours are of fifty, of which the first places matter.
 */
const rankConstant = 10

/** Labels best first, and how much their order counts. */
export interface RankedList {
  labels: readonly number[]
  weight: number
}

/**
 * Reciprocal rank fusion of lists of labels. A score is the sum of weight / (10 + rank) over the lists, divided by
 * the most it can be: 1 means first in every list.
 */
export function fuseRanks(lists: readonly RankedList[]): { label: number; score: number }[] {
  const scores = new Map<number, number>()
  let weights = 0
  for (const { labels, weight } of lists) {
    weights += weight
    for (const [position, label] of labels.entries()) {
      scores.set(label, (scores.get(label) ?? 0) + weight / (rankConstant + position + 1))
    }
  }
  const best = weights / (rankConstant + 1)
  return Array.from(scores, ([label, score]) => ({ label, score: score / best })).sort(
    (a, b) => b.score - a.score || a.label - b.label,
  )
}
