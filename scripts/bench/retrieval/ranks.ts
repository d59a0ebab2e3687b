/** How well right answers were ranked, each figure from 0 to 1. */
export interface Quality {
  hit1: number
  hit5: number
  /** Mean of 1 / rank, 0 for what is not among the first ten. */
  mrr10: number
}

/** From 1, counting each item once, in the order of its first hit; null when the item is not there. */
export function rankOf(itemId: string, hits: readonly { itemId: string }[]): number | null {
  const position = [...new Set(hits.map((hit) => hit.itemId))].indexOf(itemId)
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

function mean(values: number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}
