import type { TagFilter } from '../../text/tags.ts'
import type { Search } from '../search/search.ts'

const passagesMax = 5
/** Long enough for a model that has just started, so that no question is answered by keywords alone. */
const timeoutMs = 10_000

/** What a golden question found. */
export interface GoldenAnswer {
  /** The rank of the first passage of an item that answers it, 1 to 5; 0 if none of the five is of one. */
  rank: number
  /** The items of the passages, best first. */
  found: { itemId: string; name: string }[]
  /** Whether keywords alone answered, because the embedding provider did not. */
  isByWordsAlone: boolean
}

/** Asks a golden question as an agent would: hybrid, five passages. @param itemIds the items that answer it */
export async function askGolden(
  search: Pick<Search, 'search'>,
  projectId: number,
  { query, tags = [], itemIds }: { query: string; tags?: TagFilter; itemIds: readonly string[] },
): Promise<GoldenAnswer> {
  const { answer } = await search.search(projectId, { query, limit: passagesMax, timeoutMs }, tags)
  const found = answer.data.map(({ itemId, name }) => ({ itemId, name }))
  return {
    rank: found.findIndex(({ itemId }) => itemIds.includes(itemId)) + 1,
    found,
    isByWordsAlone: answer.mode === 'keyword',
  }
}

/** The shares of questions whose item is that of the first passage, or of one of the first five, from 0 to 1. */
export function sharesOf(ranks: readonly number[]): { hit1: number; hit5: number } {
  const count = ranks.length
  const first = ranks.filter((rank) => rank === 1).length
  const within = ranks.filter((rank) => rank > 0).length
  return { hit1: count && first / count, hit5: count && within / count }
}
