import type { Hnswlib } from './addon.ts'
import { Graph } from './graph.ts'
import type { VectorHit, VectorRow } from './rows.ts'

/** How long vectors are added before messages are answered again. A search waits for at most one slice. */
const sliceMs = 4
const rowsPerRead = 64
/** The most queued vectors that a search compares, as many as one item can have. Comparing them takes 2 ms. */
const comparedMax = 2_048

/** A graph and the queue of labels that are still to be added to it. */
export class Filling {
  readonly #hnswlib: Hnswlib
  /** The labels in the queue, oldest first, with ascending numbers. */
  readonly #pending = new Map<number, number>()
  #lastNumber = 0
  /** Called when labels have left the queue. */
  readonly #waiters: (() => void)[] = []
  /** Vectors that were read and are not yet added, the next one last. */
  #read: VectorRow[] = []
  #graph: Graph | null

  constructor(hnswlib: Hnswlib, graph: Graph | null = null) {
    this.#hnswlib = hnswlib
    this.#graph = graph
  }

  /** Null until the first vector is added, which sets the graph's dimension. */
  get graph(): Graph | null {
    return this.#graph
  }

  get pending(): number {
    return this.#pending.size
  }

  /** Whether a search finds every vector, also those in the queue. */
  get isSearchable(): boolean {
    return this.#pending.size <= comparedMax
  }

  has(label: number): boolean {
    return this.#pending.has(label) || this.#graph?.labels.has(label) === true
  }

  enqueue(labels: Iterable<number>): void {
    for (const label of labels) {
      if (!this.has(label)) this.#pending.set(label, ++this.#lastNumber)
    }
  }

  /**
   * The nearest vectors, best first, including those in the queue. Null if the graph cannot find enough.
   * @param nearest compares these vectors one by one
   * @param among the only labels to return; all by default
   */
  async search(
    query: Float32Array,
    limit: number,
    nearest: (labels: readonly number[]) => Promise<VectorHit[]>,
    among?: ReadonlySet<number>,
  ): Promise<VectorHit[] | null> {
    const hits = this.#graph?.search(query, limit, among) ?? []
    // Many equal vectors may be linked only to each other, with no path to the others.
    if (hits.length < Math.min(limit, (among ?? this.#graph?.labels)?.size ?? 0)) return null
    // Only the newest, since a reconcile may have queued thousands before them.
    const newest = [...this.#pending.keys()].slice(-comparedMax)
    const queued = among ? newest.filter((label) => among.has(label)) : newest
    if (queued.length === 0) return hits
    const others = await nearest(queued)
    return [...hits, ...others].sort((a, b) => b.similarity - a.similarity).slice(0, limit)
  }

  /** Resolves when every label now in the queue has been added or removed. */
  async settled(): Promise<void> {
    const last = this.#lastNumber
    const oldest = () => this.#pending.values().next().value ?? Number.POSITIVE_INFINITY
    while (oldest() <= last) await new Promise<void>((resolve) => this.#waiters.push(resolve))
  }

  remove(labels: Iterable<number>): void {
    for (const label of labels) {
      this.#pending.delete(label)
      this.#graph?.remove(label)
    }
    this.#wake()
  }

  /** Removes all other labels. Returns whether there were any. */
  keepOnly(labels: ReadonlySet<number>): boolean {
    const ownLabels = [...(this.#graph?.labels ?? []), ...this.#pending.keys()]
    const others = ownLabels.filter((label) => !labels.has(label))
    this.remove(others)
    return others.length > 0
  }

  /** Reads the vectors to add next. Labels whose row was deleted leave the queue. */
  async read(readVectors: (labels: readonly number[]) => Promise<VectorRow[]>): Promise<void> {
    if (this.#read.length > 0) return
    const labels: number[] = []
    for (const label of this.#pending.keys()) if (labels.push(label) >= rowsPerRead) break
    const rows = await readVectors(labels)
    const rowLabels = new Set(rows.map(({ label }) => label))
    for (const label of labels) if (!rowLabels.has(label)) this.#pending.delete(label)
    this.#read = rows.reverse()
    this.#wake()
  }

  /**
   * Adds one slice of the vectors that were read.
   * @param onSkipped called for each vector that cannot be added
   */
  add(onSkipped: (label: number, reason: string) => void): void {
    const start = performance.now()
    do {
      const row = this.#read.pop()
      if (!row) break
      // The label was removed after its vector was read.
      if (!this.#pending.has(row.label)) continue
      const reason = this.#add(row)
      if (reason) onSkipped(row.label, reason)
      this.#pending.delete(row.label)
    } while (performance.now() - start < sliceMs)
    this.#wake()
  }

  /** Frees the graph's memory, and resolves every `settled`. */
  free(): void {
    this.#pending.clear()
    this.#read = []
    this.#wake()
    this.#graph?.free()
    this.#graph = null
  }

  #add({ label, vector }: VectorRow): string | null {
    this.#graph ??= Graph.empty(this.#hnswlib, vector.length)
    if (vector.length !== this.#graph.dimensions) return `it has ${vector.length} dimensions`
    if (!vector.every(Number.isFinite)) return 'it is not finite'
    try {
      this.#graph.add(label, vector)
      return null
    } catch (error) {
      // The row stays, so that the next reconcile tries again.
      return String(error)
    }
  }

  #wake(): void {
    for (const resolve of this.#waiters.splice(0)) resolve()
  }
}
