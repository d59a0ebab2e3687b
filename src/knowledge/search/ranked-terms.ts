import { LRUCache } from 'lru-cache'
import type { WordQueries } from './word-queries.ts'

/** Rows that are kept of all terms together, at 12 bytes each. */
const keptRowsMax = 500_000
/** The memory of a term itself, counted in rows. */
const rowsPerTerm = 16
/** The index may change between two reads. After the second one, some ranks may be those of a moment before. */
const readsMax = 2

/** The labels of the chunks that have a term, ascending, with FTS5's rank of each: the lower, the better. */
interface TermRanks {
  /** Of the keyword index that they were read from. */
  version: string
  labels: Uint32Array
  ranks: Float64Array
}

interface Limits {
  /** The only labels to choose from; undefined for all. */
  labels: readonly number[] | undefined
  /** How many chunks to choose. */
  limit: number
}

/**
 * Chooses chunks by FTS5's rank, BM25. The rank for several terms is the sum of the ranks for each, so a term's ranks are
 * read once and kept until the index changes.
 */
export class RankedTerms {
  readonly #kept = new LRUCache<string, TermRanks>({
    maxSize: keptRowsMax,
    sizeCalculation: ({ labels }) => labels.length + rowsPerTerm,
  })

  /** The chunks with the best ranks, best first, in the order that FTS5 has for `term OR term …`. */
  async best(
    projectId: number,
    matches: readonly string[],
    queries: WordQueries,
    { labels, limit }: Limits,
  ): Promise<number[]> {
    const sums = new Map<number, number>()
    for (const term of await this.#read(projectId, matches, queries)) {
      for (let at = 0; at < term.labels.length; at++) {
        const label = term.labels[at] ?? 0
        sums.set(label, (sums.get(label) ?? 0) + (term.ranks[at] ?? 0))
      }
    }
    if (labels) keepOnly(sums, new Set(labels))
    return lowest(sums, limit)
  }

  async #read(projectId: number, matches: readonly string[], queries: WordQueries): Promise<TermRanks[]> {
    const keyOf = (match: string) => `${projectId} ${match}`
    const found = new Map(matches.map((match) => [match, this.#kept.get(keyOf(match))]))
    let missing = matches.filter((match) => found.get(match) === undefined)
    for (let reads = 0; reads < readsMax; reads++) {
      // Ranks and version come from one statement, so they belong together.
      const rows = await queries.ranks.all({ matches: JSON.stringify(missing) })
      const version = rows.find((row) => row.version !== null)?.version ?? ''
      const byMatch = new Map(missing.map((match): [string, typeof rows] => [match, []]))
      for (const row of rows) byMatch.get(row.match)?.push(row)
      for (const [match, own] of byMatch) {
        const labels = Uint32Array.from(own, ({ label }) => label)
        const read = { version, labels, ranks: Float64Array.from(own, ({ rank }) => rank) }
        found.set(match, read)
        this.#kept.set(keyOf(match), read)
      }
      missing = matches.filter((match) => found.get(match)?.version !== version)
      if (missing.length === 0) break
    }
    return matches.flatMap((match) => found.get(match) ?? [])
  }
}

function keepOnly(ranks: Map<number, number>, labels: ReadonlySet<number>): void {
  for (const label of ranks.keys()) if (!labels.has(label)) ranks.delete(label)
}

/** The labels with the lowest ranks, in the order of their ranks, then of their own. */
function lowest(ranks: ReadonlyMap<number, number>, count: number): number[] {
  const highest = new Float64Array(ranks.values()).sort()[count - 1] ?? Number.POSITIVE_INFINITY
  const candidates: { label: number; rank: number }[] = []
  for (const [label, rank] of ranks) if (rank <= highest) candidates.push({ label, rank })
  candidates.sort((a, b) => a.rank - b.rank || a.label - b.label)
  return candidates.slice(0, count).map(({ label }) => label)
}
