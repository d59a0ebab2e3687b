import { LRUCache } from 'lru-cache'
import type { ReadDatabase } from '../../db/reader.ts'
import {
  type ChunkSegments,
  readTermRows,
  type SoughtTerm,
  type TermRow,
  toSegments,
} from './word-queries.ts'

/** Rows that are kept of all terms together, at 12 bytes each. */
const keptRowsMax = 500_000
/** The memory of a term itself, counted in rows. */
const rowsPerTerm = 16
/** The index may change between two reads. After the second one, some ranks may be those of a moment before. */
const readsMax = 2

/** BM25's constants as FTS5 has them. */
const saturation = 1.2
const length = 0.75
const rarityMin = 1e-6

/** The labels of the chunks that have a term, with the term's rank in each: the lower, the better. */
interface TermRanks {
  /** The version of the project's chunks that they were read from. */
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
 * Chooses chunks by BM25, with the counts of their project alone. The rank for several terms is the sum of the ranks for
 * each, so a term's ranks are read once and kept until the project's chunks change.
 */
export class RankedTerms {
  readonly #cache = new LRUCache<string, TermRanks>({
    maxSize: keptRowsMax,
    sizeCalculation: ({ labels }) => labels.length + rowsPerTerm,
  })

  /** The chunks with the best ranks, best first. */
  async best(
    db: ReadDatabase,
    projectId: number,
    terms: readonly SoughtTerm[],
    segments: ChunkSegments,
    { labels, limit }: Limits,
  ): Promise<number[]> {
    const sums = new Map<number, number>()
    for (const term of await this.#read(db, projectId, terms, segments)) {
      for (let at = 0; at < term.labels.length; at++) {
        const label = term.labels[at] ?? 0
        sums.set(label, (sums.get(label) ?? 0) + (term.ranks[at] ?? 0))
      }
    }
    if (labels) keepOnly(sums, new Set(labels))
    return lowest(sums, limit)
  }

  async #read(
    db: ReadDatabase,
    projectId: number,
    terms: readonly SoughtTerm[],
    segments: ChunkSegments,
  ): Promise<TermRanks[]> {
    const keyOf = ({ from, to }: SoughtTerm) => `${from} ${to}`
    const cachedRanks = new Map(terms.map((term) => [term, this.#cache.get(keyOf(term))]))
    let { version } = segments
    for (let reads = 0; reads < readsMax; reads++) {
      const missing = terms.filter((term) => cachedRanks.get(term)?.version !== version)
      if (missing.length === 0) break
      // Rows and version come from one statement, so they belong together.
      const read = await readTermRows(db, projectId, toSegments(version), missing)
      version = read.version
      const byTerm: TermRow[][] = missing.map(() => [])
      for (const row of read.rows) byTerm[row.term]?.push(row)
      for (const [at, term] of missing.entries()) {
        const ranks = { version, ...rank(byTerm[at] ?? [], toSegments(version)) }
        cachedRanks.set(term, ranks)
        this.#cache.set(keyOf(term), ranks)
      }
    }
    return terms.flatMap((term) => cachedRanks.get(term) ?? [])
  }
}

/** BM25 (Robertson and Zaragoza, 2009), with signs as FTS5 has them: https://www.sqlite.org/fts5.html#the_bm25_function */
function rank(rows: readonly TermRow[], { stats }: ChunkSegments): Pick<TermRanks, 'labels' | 'ranks'> {
  const chunks = stats.reduce((sum, segment) => sum + segment.chunks, 0)
  const wordsMean = stats.reduce((sum, segment) => sum + segment.words, 0) / Math.max(1, chunks)
  const rarity = Math.max(rarityMin, Math.log((chunks - rows.length + 0.5) / (rows.length + 0.5)))
  return {
    labels: Uint32Array.from(rows, ({ label }) => label),
    ranks: Float64Array.from(rows, ({ times, words }) => {
      const norm = saturation * (1 - length + (length * words) / wordsMean)
      // In FTS5's order of operations, so that equal ranks are equal.
      return -rarity * ((times * (saturation + 1)) / (times + norm))
    }),
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
