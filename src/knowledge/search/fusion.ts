/**
 * The higher it is, the less the first ranks differ in weight. Cormack, Clarke and Büttcher (SIGIR 2009) take 60, for
 * lists of 1,000. Our lists have 50 entries, and their first ranks matter most.
 */
const rankConstant = 10

/** Labels, best first, and how much their order counts. */
export interface RankedList {
  labels: readonly number[]
  weight: number
}

/**
 * Reciprocal rank fusion of lists of labels. A score is the sum of weight / (10 + rank) over the lists, divided by
 * its maximum: 1 means first in every list.
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
