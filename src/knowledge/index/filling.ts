import type { Hnswlib } from './addon.ts'
import { Graph } from './graph.ts'
import type { VectorRow } from './rows.ts'

/** At most this long between two looks at the messages: a search waits for one slice at most. */
const sliceMs = 4
const sliceRowsMax = 64

export type ReadVectors = (labels: readonly number[]) => Promise<VectorRow[]>
export type OnSkipped = (label: number, reason: string) => void

/** A graph and the labels that are still to be added to it, first come first served. */
export class Filling {
  readonly #hnswlib: Hnswlib
  readonly #pending = new Map<number, number>()
  #waiters: { ticket: number; resolve(): void }[] = []
  #lastTicket = 0
  #sliceRows = 4
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

  /** Adds what fits in one slice. A label without a row is dropped: its chunk was deleted meanwhile. */
  async work(readVectors: ReadVectors, onSkipped: OnSkipped): Promise<void> {
    const labels = this.#oldest(this.#sliceRows)
    const rows = await readVectors(labels)
    const start = performance.now()
    const found = new Set(rows.map((row) => row.label))
    for (const label of labels) if (!found.has(label)) this.#pending.delete(label)
    let added = 0
    for (const { label, vector } of rows) {
      // Removed while its vector was being read.
      if (!this.#pending.has(label)) continue
      if (added > 0 && performance.now() - start > sliceMs) break
      const reason = this.#add(label, vector)
      if (reason) onSkipped(label, reason)
      this.#pending.delete(label)
      added++
    }
    this.#sliceRows = rowsForNextSlice(added, performance.now() - start)
    this.#wake()
  }

  /** Lets go of the graph's memory and of whoever waits for it. */
  free(): void {
    this.#pending.clear()
    this.#wake()
    this.#graph?.free()
    this.#graph = null
  }

  #add(label: number, vector: Float32Array): string | null {
    this.#graph ??= Graph.empty(this.#hnswlib, vector.length)
    if (vector.length !== this.#graph.dimensions) return `${vector.length} dimensions`
    if (!vector.every(Number.isFinite)) return 'not finite'
    try {
      this.#graph.add(label, vector)
      return null
    } catch (error) {
      // The row stays, so that the next reconcile tries again.
      return String(error)
    }
  }

  #oldest(count: number): number[] {
    const labels: number[] = []
    for (const label of this.#pending.keys()) {
      if (labels.push(label) >= count) break
    }
    return labels
  }

  #wake(): void {
    const oldest = this.#pending.values().next().value ?? Number.POSITIVE_INFINITY
    const isDone = (waiter: { ticket: number }) => waiter.ticket < oldest
    for (const waiter of this.#waiters.filter(isDone)) waiter.resolve()
    this.#waiters = this.#waiters.filter((waiter) => !isDone(waiter))
  }
}

function rowsForNextSlice(added: number, elapsedMs: number): number {
  const fitting = Math.floor((added * sliceMs) / Math.max(elapsedMs, 0.001))
  return Math.min(Math.max(fitting, 1), sliceRowsMax)
}
