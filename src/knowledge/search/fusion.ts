import type { VectorHit } from '../indexing/index/rows.ts'

/**
 * What being first by words adds to a passage's nearness, which goes from 0 to 1. Found on six sets of questions with
 * MiniLM, each left out in turn: from 0.25 to 0.4 the order is as good, and every set is about as good as the better of
 * its parts. `bun run bench:retrieval` measures it.
 */
const wordsWeight = 0.3
/** The first rank counts 1, the third half of that. */
const rankConstant = 2
/** The last of so many nearest passages is taken to have nothing to do with the question. */
export const nearestCount = 50

/** A chunk and its score, 0 to 1. */
export interface Ranked {
  label: number
  score: number
}

/** Scores by rank alone: 1 for the first. */
export function scoreRanks(labels: readonly number[]): Ranked[] {
  return labels.map((label, rank) => ({ label, score: weightOf(rank) }))
}

/**
 * Puts what was found by meaning and by words together, best first: how near a passage is to the question, and its rank
 * by words. Ranks alone would hide that nothing near was found. Scores are divided by the highest that one passage could
 * have: 1 means first by both.
 * @param words labels, best first
 */
export function fuse(nearest: readonly VectorHit[], words: readonly number[]): Ranked[] {
  if (words.length === 0) return scoreRanks(nearest.map(({ label }) => label))
  if (nearest.length === 0) return scoreRanks(words)
  const nearness = nearnessOf(nearest)
  const scores = new Map(nearest.map(({ label }, at) => [label, nearness[at] ?? 0]))
  for (const [rank, label] of words.entries())
    scores.set(label, (scores.get(label) ?? 0) + wordsWeight * weightOf(rank))
  const best = (nearness[0] ?? 0) + wordsWeight
  return Array.from(scores, ([label, score]) => ({ label, score: score / best })).sort(
    (a, b) => b.score - a.score || a.label - b.label,
  )
}

/**
 * How near each hit is, from 0 for the similarity that unrelated passages have to 1 for the same direction. Cosines alone
 * cannot be compared: with one model, unrelated texts have 0.1 in common, with another 0.7.
 * @param nearest best first
 */
export function nearnessOf(nearest: readonly VectorHit[]): number[] {
  const unrelated = (nearest[nearestCount - 1] ?? nearest.at(-1))?.similarity ?? 0
  const scale = Math.max(Number.EPSILON, 1 - unrelated)
  return nearest.map(({ similarity }) => Math.max(0, similarity - unrelated) / scale)
}

function weightOf(rank: number): number {
  return rankConstant / (rankConstant + rank)
}
