/** How high the right answers ranked, each figure from 0 to 1. */
export interface Quality {
  hit1: number
  hit5: number
  /** Mean of 1 / rank, with 0 for an answer beyond the first ten. */
  mrr10: number
}

/** The best rank of the answers, from 1, counting each item once at its first hit; null if none was found. */
export function rankOf<Id>(answers: readonly Id[], found: readonly Id[]): number | null {
  const position = [...new Set(found)].findIndex((id) => answers.includes(id))
  return position < 0 ? null : position + 1
}

export function qualityOf(ranks: readonly (number | null)[]): Quality {
  const shareWithin = (most: number) => mean(ranks.map((rank) => (rank !== null && rank <= most ? 1 : 0)))
  return {
    hit1: shareWithin(1),
    hit5: shareWithin(5),
    mrr10: mean(ranks.map((rank) => (rank !== null && rank <= 10 ? 1 / rank : 0))),
  }
}

export function formatQuality({ hit1, hit5, mrr10 }: Quality): string {
  return `hit@1 ${hit1.toFixed(3)}, hit@5 ${hit5.toFixed(3)}, MRR@10 ${mrr10.toFixed(3)}`
}

/** How often a value of the first list is above one of the second: 1 if they are told apart, 0.5 if not at all. */
export function areaUnderCurve(above: readonly number[], below: readonly number[]): number {
  const wins = above.flatMap((a) => below.map((b) => (a > b ? 1 : a === b ? 0.5 : 0)))
  return mean(wins)
}

export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}
