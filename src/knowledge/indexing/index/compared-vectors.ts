import { LRUCache } from 'lru-cache'
import type { VectorHit, VectorRows } from './rows.ts'

const keptBytesMax = 67_108_864

interface KeptVectors {
  /** The project's knowledge version before they were read. */
  version: number
  /** Ascending. */
  labels: Float64Array
  /** In the order of the labels, one after the other. */
  vectors: Float32Array
}

/**
 * The vectors of some labels, such as those of a tag, kept for the next search among the same ones: reading 4,000 of 384
 * dimensions takes 20 to 40 ms, comparing them 3. Kept until the project's knowledge changes.
 */
export class ComparedVectors {
  readonly #rows: VectorRows
  readonly #kept = new LRUCache<string, KeptVectors>({
    maxSize: keptBytesMax,
    // The key has the labels as text, about as long.
    sizeCalculation: ({ labels, vectors }) => labels.byteLength * 2 + vectors.byteLength + 1,
  })

  constructor(rows: VectorRows) {
    this.#rows = rows
  }

  /** The nearest of these labels, best first. Equal ones are in the order of their labels. */
  async nearest(
    projectId: number,
    query: Float32Array,
    limit: number,
    among: readonly number[],
  ): Promise<VectorHit[]> {
    const { labels, vectors } = await this.#read(projectId, query.length, among)
    const similarities = Float64Array.from(labels, (_, at) => dotProduct(query, vectors, at * query.length))
    const least = similarities.toSorted().at(-limit) ?? Number.NEGATIVE_INFINITY
    const hits: VectorHit[] = []
    for (const [at, similarity] of similarities.entries())
      if (similarity >= least) hits.push({ label: labels[at] ?? 0, similarity })
    return hits.sort((a, b) => b.similarity - a.similarity || a.label - b.label).slice(0, limit)
  }

  /** Call it once vectors of the project are deleted. */
  forget(projectId: number): void {
    for (const key of [...this.#kept.keys()]) if (key.startsWith(`${projectId} `)) this.#kept.delete(key)
  }

  async #read(projectId: number, dimensions: number, among: readonly number[]): Promise<KeptVectors> {
    const key = `${projectId} ${dimensions} ${among}`
    const version = await this.#rows.version(projectId)
    const kept = this.#kept.get(key)
    if (kept?.version === version) return kept
    const rows = (await this.#rows.vectors(projectId, among)).filter(
      ({ vector }) => vector.length === dimensions,
    )
    rows.sort((a, b) => a.label - b.label)
    const vectors = new Float32Array(rows.length * dimensions)
    for (const [at, { vector }] of rows.entries()) vectors.set(vector, at * dimensions)
    const read = { version, labels: Float64Array.from(rows, ({ label }) => label), vectors }
    this.#kept.set(key, read)
    return read
  }
}

/** The cosine of two unit vectors. */
function dotProduct(query: Float32Array, vectors: Float32Array, from: number): number {
  let sum = 0
  for (let at = 0; at < query.length; at++) sum += (query[at] ?? 0) * (vectors[from + at] ?? 0)
  return sum
}
