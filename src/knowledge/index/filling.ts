import type { Hnswlib } from './addon.ts'
import { Graph } from './graph.ts'
import type { VectorRow } from './rows.ts'

/** At most this long between two looks at the messages: a search waits for one slice at most. */
const sliceMs = 4
const rowsPerRead = 64

export type ReadVectors = (labels: readonly number[]) => Promise<VectorRow[]>
export type OnSkipped = (label: number, reason: string) => void

/** A graph and the labels that are still to be added to it, first come first served. */
export class Filling {
  readonly #hnswlib: Hnswlib
  readonly #pending = new Map<number, number>()
  #waiters: { ticket: number; resolve(): void }[] = []
  #lastTicket = 0
  /** Vectors read and not added yet, the next one last. */
  #read: VectorRow[] = []
  #graph: Graph | null

  constructor(hnswlib: Hnswlib, graph: Graph | null = null) {
    this.#hnswlib = hnswlib
    this.#graph = graph
  }

  /** Null until the first vector is added: its length is the graph's dimension. */
  get graph(): Graph | null {
    return this.#graph
  }

  get pending(): number {
    return this.#pending.size
  }

  has(label: number): boolean {
    return this.#pending.has(label) || this.#graph?.labels.has(label) === true
  }

  enqueue(labels: Iterable<number>): void {
    for (const label of labels) {
      if (!this.has(label)) this.#pending.set(label, ++this.#lastTicket)
    }
  }

  /** Resolves when everything enqueued so far is added, or was removed meanwhile. */
  settled(): Promise<void> {
    if (this.#pending.size === 0) return Promise.resolve()
    return new Promise((resolve) => this.#waiters.push({ ticket: this.#lastTicket, resolve }))
  }

  remove(labels: Iterable<number>): void {
    for (const label of labels) {
      this.#pending.delete(label)
      this.#graph?.remove(label)
    }
    this.#wake()
  }

  /** Removes every other label; true if there was one. */
  keepOnly(labels: ReadonlySet<number>): boolean {
    const others = [...(this.#graph?.labels ?? []), ...this.#pending.keys()].filter(
      (label) => !labels.has(label),
    )
    this.remove(others)
    return others.length > 0
  }

  /** Reads the vectors that are added next. A label without a row is dropped: its chunk was deleted meanwhile. */
  async read(readVectors: ReadVectors): Promise<void> {
    if (this.#read.length > 0) return
    const labels = this.#oldest(rowsPerRead)
    const rows = await readVectors(labels)
    const found = new Set(rows.map((row) => row.label))
    for (const label of labels) if (!found.has(label)) this.#pending.delete(label)
    this.#read = rows.reverse()
    this.#wake()
  }

  /** Adds of what was read as much as fits in one slice. */
  add(onSkipped: OnSkipped): void {
    const start = performance.now()
    do {
      const row = this.#read.pop()
      if (!row) break
      // Otherwise it was removed since its vector was read.
      if (!this.#pending.has(row.label)) continue
      const reason = this.#add(row)
      if (reason) onSkipped(row.label, reason)
      this.#pending.delete(row.label)
    } while (performance.now() - start < sliceMs)
    this.#wake()
  }

  /** Lets go of the graph's memory and of whoever waits for it. */
  free(): void {
    this.#pending.clear()
    this.#read = []
    this.#wake()
    this.#graph?.free()
    this.#graph = null
  }

  #oldest(count: number): number[] {
    const labels: number[] = []
    for (const label of this.#pending.keys()) {
      if (labels.push(label) >= count) break
    }
    return labels
  }

  #add({ label, vector }: VectorRow): string | null {
    this.#graph ??= Graph.empty(this.#hnswlib, vector.length)
    if (vector.length !== this.#graph.dimensions) return `it has ${vector.length} dimensions`
    if (!isFiniteVector(vector)) return 'it is not finite'
    try {
      this.#graph.add(label, vector)
      return null
    } catch (error) {
      // The row stays, so that the next reconcile tries again.
      return String(error)
    }
  }

  #wake(): void {
    const oldest = this.#pending.values().next().value ?? Number.POSITIVE_INFINITY
    const isDone = (waiter: { ticket: number }) => waiter.ticket < oldest
    for (const waiter of this.#waiters.filter(isDone)) waiter.resolve()
    this.#waiters = this.#waiters.filter((waiter) => !isDone(waiter))
  }
}

function isFiniteVector(vector: Float32Array): boolean {
  let sum = 0
  for (const value of vector) sum += value
  return Number.isFinite(sum)
}
