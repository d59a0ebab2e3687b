/** How high the right answers ranked, each figure from 0 to 1. */
export interface Quality {
  hit1: number
  hit5: number
  /** Mean of 1 / rank, with 0 for an answer beyond the first ten. */
  mrr10: number
}

/** The best rank of the items, from 1, counting each item once at its first hit; null if none was found. */
export function rankOf<Id>(itemIds: readonly Id[], hits: readonly { itemId: Id }[]): number | null {
  const position = [...new Set(hits.map((hit) => hit.itemId))].findIndex((id) => itemIds.includes(id))
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
