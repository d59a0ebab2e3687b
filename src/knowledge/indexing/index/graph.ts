import type { HierarchicalNSW, Hnswlib } from './addon.ts'
import type { SavedIndex } from './files.ts'
import type { VectorHit } from './rows.ts'

// Measured on 100,000 lexical vectors of 384 dimensions, which are harder to tell apart than a model's: with 100, 400 and
// 600 candidates recall@10 is 0.844, 0.959 and 0.973; built with an `efConstruction` of 200 it is 0.776, 0.923 and 0.953.
// 40 links with 300 give the same.
/** Links of a vector on the upper levels; twice as many on the lowest. */
const linksPerVector = 24
const efConstruction = 400
/** Candidates that a search keeps: hnswlib's `ef`. */
const effort = 600
const levelSeed = 100
/** Neighbours that a search among some labels asks for at most, for each of these. */
const reachPerLabelMax = 2
const capacityMin = 16
/** What a vector takes besides its numbers: its links, label and places in tables. */
const bytesBesideNumbers = 300

/**
 * hnswlib's graph of one project. Removed vectors stay in it: searches pass through them, but do not return them.
 * hnswlib's own delete marks do not work for a whole deleted cluster, which then leads nowhere: searches came back
 * short, and `addPoint` takes the last of an empty list of neighbours.
 */
export class Graph {
  readonly dimensions: number
  readonly #index: HierarchicalNSW
  readonly #live = new Set<number>()
  readonly #dead = new Set<number>()

  private constructor(index: HierarchicalNSW, dimensions: number) {
    this.#index = index
    this.dimensions = dimensions
  }

  static empty(hnswlib: Hnswlib, dimensions: number): Graph {
    const index = new hnswlib.HierarchicalNSW('ip', dimensions)
    index.initIndex(capacityMin, linksPerVector, efConstruction, levelSeed)
    return new Graph(index, dimensions)
  }

  /** Reads a file that was checked: a damaged one crashes hnswlib. */
  static async read(
    hnswlib: Hnswlib,
    file: string,
    { dimensions, labels, deadLabels }: SavedIndex,
  ): Promise<Graph> {
    const index = new hnswlib.HierarchicalNSW('ip', dimensions)
    // On a thread of hnswlib's own, so that other projects are searched meanwhile.
    await index.readIndex(file)
    const graph = new Graph(index, dimensions)
    for (const label of labels) graph.#live.add(label)
    for (const label of deadLabels) {
      index.unmarkDelete(label)
      graph.#dead.add(label)
    }
    return graph
  }

  /** Labels that search returns. */
  get labels(): ReadonlySet<number> {
    return this.#live
  }

  /** How many removed vectors the graph still holds. */
  get tombstones(): number {
    return this.#dead.size
  }

  /** Returns about how much memory it takes. */
  get bytes(): number {
    return (this.#live.size + this.#dead.size) * (this.dimensions * 2 + bytesBesideNumbers)
  }

  /** Takes 0.5 to 1.5 ms. Does nothing for a label that is in the graph. */
  add(label: number, vector: Float32Array): void {
    if (this.#live.has(label)) return
    const count = this.#index.getCurrentCount()
    if (count >= this.#index.getMaxElements()) this.#index.resizeIndex(count * 2)
    this.#index.addPoint(vector, label)
    this.#dead.delete(label)
    this.#live.add(label)
  }

  remove(label: number): void {
    if (this.#live.delete(label)) this.#dead.add(label)
  }

  /**
   * The nearest vectors, best first. Fewer than `limit` if no path through the graph leads to more, or if so many others
   * are nearer than those of `among` that comparing each of these takes less time.
   * @param among the only labels to return
   */
  search(query: Float32Array, limit: number, among: ReadonlySet<number> = this.#live): VectorHit[] {
    const hitsMax = Math.min(limit, among.size)
    if (hitsMax === 0) return []
    const count = this.#index.getCurrentCount()
    const reachMax = among === this.#live ? count : Math.min(count, among.size * reachPerLabelMax)
    this.#index.setEf(effort)
    // hnswlib's own filter would call JavaScript for every vector that it visits.
    const widened = Math.max(effort, Math.ceil((hitsMax * 2 * count) / among.size))
    let reach = among.size === count ? hitsMax : Math.min(reachMax, widened)
    for (;;) {
      const hits = this.#hitsAmong(among, query, reach).slice(0, hitsMax)
      if (hits.length === hitsMax || reach >= reachMax) return hits
      reach = Math.min(reachMax, reach * 2)
    }
  }

  /** Writes on another thread. Until it resolves, nothing may be added. */
  async write(file: string): Promise<void> {
    await this.#index.writeIndex(file)
  }

  /** Gives hnswlib's memory back at once. The garbage collector does not know of it. */
  free(): void {
    this.#index.initIndex(1)
    this.#live.clear()
    this.#dead.clear()
  }

  #hitsAmong(among: ReadonlySet<number>, query: Float32Array, reach: number): VectorHit[] {
    const { neighbors, distances } = this.#index.searchKnn(query, reach)
    return neighbors.flatMap((label, rank) =>
      this.#live.has(label) && among.has(label) ? [{ label, similarity: 1 - (distances[rank] ?? 1) }] : [],
    )
  }
}
