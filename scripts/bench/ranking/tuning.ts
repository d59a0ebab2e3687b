import type { RankWeights } from '../../../src/knowledge/search/rank-passages.ts'

/** The quality of weights on one set, from 0 to 1. */
export type Judge = (set: string, weights: RankWeights) => number

const passesMax = 4
/** A change that gains less is not made, so a weight stays where it is when it does not matter. */
const gainMin = 0.0003

/** The values to try of each weight. */
export const weightValues: Partial<Record<keyof RankWeights, readonly number[]>> = {
  emphasis: [1, 1.25, 1.5, 1.75],
  saturation: [1.2, 1.5, 2, 3],
  length: [0.6, 0.75, 0.9],
  title: [0.5, 1, 1.5, 2, 3],
  cased: [0, 0.15, 0.3, 0.5],
  likeness: [0.5, 1, 1.5, 2],
  proximity: [0.5, 1, 1.5, 2],
  window: [0.5, 1, 1.5, 2],
  item: [0, 0.2, 0.35, 0.5],
}

/** Changes one weight at a time to the value that gains most over all sets, until no change gains. */
export function tune(start: RankWeights, sets: readonly string[], judge: Judge): RankWeights {
  const qualityOf = (weights: RankWeights) =>
    sets.reduce((sum, set) => sum + judge(set, weights), 0) / sets.length
  let best = { weights: start, quality: qualityOf(start) }
  for (let pass = 0; pass < passesMax; pass++) {
    const before = best
    for (const [name, values = []] of Object.entries(weightValues)) {
      for (const value of values) {
        const weights = { ...best.weights, [name]: value }
        const quality = qualityOf(weights)
        if (quality >= best.quality + gainMin) best = { weights, quality }
      }
    }
    if (best === before) break
  }
  return best.weights
}
