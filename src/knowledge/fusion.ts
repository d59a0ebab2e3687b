/** Dampens the difference between high ranks (Cormack, Clarke and Büttcher, SIGIR 2009, use 60). */
const rankConstant = 60

/**
 * Reciprocal rank fusion of lists of labels, each best first. A score is the sum of 1 / (60 + rank) over the
 * lists, divided by the most it can be: 1 means first in every list.
 */
export function fuseRanks(lists: readonly (readonly number[])[]): { label: number; score: number }[] {
  const scores = new Map<number, number>()
  for (const list of lists) {
    for (const [position, label] of list.entries()) {
      scores.set(label, (scores.get(label) ?? 0) + 1 / (rankConstant + position + 1))
    }
  }
  const best = lists.length / (rankConstant + 1)
  return Array.from(scores, ([label, score]) => ({ label, score: score / best })).sort(
    (a, b) => b.score - a.score || a.label - b.label,
  )
}
