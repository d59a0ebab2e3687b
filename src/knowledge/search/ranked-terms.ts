import { LRUCache } from 'lru-cache'
import type { ReadDatabase } from '../../db/reader.ts'
import {
  type ChunkSegments,
  readTermRows,
  type SoughtTerm,
  type TermRow,
  toSegments,
} from './word-queries.ts'

/** Rows that are kept of all terms together, at 13 bytes each. */
const keptRowsMax = 500_000
/** The memory of a term itself, counted in rows. */
const rowsPerTerm = 16
/** The database chooses the rows of so many labels. For more, reading their list would take longer than reading all rows. */
const labelsReadMax = 5_000
/** The index may change between two reads. After the second one, some ranks may be those of a moment before. */
const readsMax = 2

/** BM25's constants as FTS5 has them. */
const saturation = 1.2
const length = 0.75
const rarityMin = 1e-6

/** The chunks that have a term, and how strongly each has it: what its rank is but for how rare the term is. */
export interface TermStrengths {
  /** How many chunks they were chosen from. */
  chunks: number
  labels: Uint32Array
  strengths: Float64Array
  /** Where each has it first, in words from 0; 255 stands for all later places. */
  firsts: Uint8Array
}

/** The strengths in all chunks of a project. */
interface CachedStrengths extends TermStrengths {
  /** The version of the project's chunks that they were read from. */
  version: string
}

/** Reads how strongly chunks have terms, by BM25, and keeps it until the project's chunks change. */
export class RankedTerms {
  readonly #cache = new LRUCache<string, CachedStrengths>({
    maxSize: keptRowsMax,
    sizeCalculation: ({ labels }) => labels.length + rowsPerTerm,
  })

  /**
   * Reads the terms, in their order.
   * @param among the only labels to choose from, as if the project had no others; undefined for all
   */
  async read(
    db: ReadDatabase,
    projectId: number,
    terms: readonly SoughtTerm[],
    segments: ChunkSegments,
    among?: readonly number[],
  ): Promise<TermStrengths[]> {
    if (among && among.length <= labelsReadMax) {
      const { rows } = await readTermRows(db, projectId, segments, terms, among)
      const chunks = among.length
      return byTerm(terms, rows).map((own) => ({ ...strengthsOf(own, segments), chunks }))
    }
    const strengths = await this.#read(db, projectId, terms, segments)
    if (!among) return strengths
    const filter = new Set(among)
    return strengths.map((term) => strengthsAmong(filter, term))
  }

  async #read(
    db: ReadDatabase,
    projectId: number,
    terms: readonly SoughtTerm[],
    segments: ChunkSegments,
  ): Promise<CachedStrengths[]> {
    const keyOf = ({ from, to }: SoughtTerm) => `${from} ${to}`
    const cached = new Map(terms.map((term) => [term, this.#cache.get(keyOf(term))]))
    let { version } = segments
    for (let reads = 0; reads < readsMax; reads++) {
      const missing = terms.filter((term) => cached.get(term)?.version !== version)
      if (missing.length === 0) break
      // Rows and version come from one statement, so they belong together.
      const read = await readTermRows(db, projectId, toSegments(version), missing)
      version = read.version
      const rows = byTerm(missing, read.rows)
      for (const [at, term] of missing.entries()) {
        const strengths = { version, ...strengthsOf(rows[at] ?? [], toSegments(version)) }
        cached.set(term, strengths)
        this.#cache.set(keyOf(term), strengths)
      }
    }
    return terms.flatMap((term) => cached.get(term) ?? [])
  }
}

/**
 * The labels of the best chunks by BM25 (Robertson and Zaragoza, 2009), best first, then in their own order. Ranks have
 * signs as FTS5 has them, the lower the better: https://www.sqlite.org/fts5.html#the_bm25_function
 */
export function bestOf(terms: readonly TermStrengths[], limit: number): number[] {
  const ranks = new Map<number, number>()
  for (const { chunks, labels, strengths } of terms) {
    const rarity = Math.max(rarityMin, Math.log((chunks - labels.length + 0.5) / (labels.length + 0.5)))
    for (let at = 0; at < labels.length; at++) {
      const label = labels[at] ?? 0
      ranks.set(label, (ranks.get(label) ?? 0) - rarity * (strengths[at] ?? 0))
    }
  }
  const highest = new Float64Array(ranks.values()).sort()[limit - 1] ?? Number.POSITIVE_INFINITY
  const candidates: { label: number; rank: number }[] = []
  for (const [label, rank] of ranks) if (rank <= highest) candidates.push({ label, rank })
  candidates.sort((a, b) => a.rank - b.rank || a.label - b.label)
  return candidates.slice(0, limit).map(({ label }) => label)
}

function byTerm(terms: readonly SoughtTerm[], rows: readonly TermRow[]): TermRow[][] {
  const own = terms.map((): TermRow[] => [])
  for (const row of rows) own[row.term]?.push(row)
  return own
}

function strengthsOf(rows: readonly TermRow[], { stats }: ChunkSegments): TermStrengths {
  const chunks = stats.reduce((sum, segment) => sum + segment.chunks, 0)
  const wordsMean = stats.reduce((sum, segment) => sum + segment.words, 0) / Math.max(1, chunks)
  return {
    chunks,
    labels: Uint32Array.from(rows, ({ label }) => label),
    strengths: Float64Array.from(rows, ({ times, words }) => {
      const norm = saturation * (1 - length + (length * words) / wordsMean)
      // In FTS5's order of operations, so that equal ranks are equal.
      return (times * (saturation + 1)) / (times + norm)
    }),
    firsts: Uint8Array.from(rows, ({ first }) => Math.min(first, 255)),
  }
}

/** Takes the chunks of a filter to be as long as all on average, so that strengths need not be read again. */
function strengthsAmong(
  filter: ReadonlySet<number>,
  { labels, strengths, firsts }: TermStrengths,
): TermStrengths {
  const isAmong = (_: number, at: number) => filter.has(labels[at] ?? 0)
  return {
    chunks: filter.size,
    labels: labels.filter(isAmong),
    strengths: strengths.filter(isAmong),
    firsts: firsts.filter(isAmong),
  }
}
