import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { inArray } from 'drizzle-orm'
import { type OpenDatabase, openDatabase } from '../../src/db/open.ts'
import { chunks, knowledgeItems, projects } from '../../src/db/schema.ts'
import { type Hnswlib, loadAddon } from '../../src/knowledge/index/addon.ts'
import { efConstruction, efSearch, levelSeed, linksPerVector } from '../../src/knowledge/index/graph.ts'
import { openVectorIndex, type VectorIndex } from '../../src/knowledge/index/vector-index.ts'

const projectId = 1
const space = 'bench'
const blockVectors = 1_000
const neighbours = 10
const recallQueries = 200
const timedSearches = 2_000
const limits = { vectorsMax: 1_000_000, vectorsDefault: 50_000 }

export interface BenchVectors {
  /** Unit length, all of the same dimension. */
  vectors: Float32Array[]
  queries: Float32Array[]
}

/** Where vectors come from: made up, or a real corpus embedded. */
export type VectorSource = (count: number, queries: number) => BenchVectors | Promise<BenchVectors>

/**
 * Measures the vector index against a bare loop over hnswlib-node with the same parameters and vectors, and
 * against exact search. Returns its figures by name.
 */
export async function benchVectorIndex(source: VectorSource, count: number): Promise<Record<string, number>> {
  const { hnswlib, reason } = loadAddon()
  if (!hnswlib) throw new Error(`There is nothing to measure: ${reason}`)
  const extra = Math.min(5_000, Math.ceil(count / 10))
  const { vectors, queries } = await source(count + extra, recallQueries)
  const dataset = { indexed: vectors.slice(0, count), extra: vectors.slice(count), queries }
  const folder = mkdtempSync(join(tmpdir(), 'callbook-bench-'))
  const databaseFile = join(folder, 'callbook.db')
  const indexFolder = join(folder, 'indexes')
  const open = () =>
    openVectorIndex({
      readsAt: { kind: 'file', file: databaseFile },
      folder: indexFolder,
      space,
      savesFiles: true,
    })
  const database = await openDatabase(databaseFile)
  let index = open()
  try {
    await insertProject(database)
    await index.reconcile(projectId)
    const rssBefore = process.memoryUsage.rss()
    const figures: Record<string, number> = await measureAdding(hnswlib, index, database, dataset.indexed)
    figures['save ms'] = await milliseconds(() => index.scrub(projectId))
    figures['recall@10'] = await measureRecall(index, dataset.indexed, queries)
    figures['file bytes'] = statSync(join(indexFolder, `${projectId}.hnsw`)).size
    Object.assign(figures, named('search idle', await searchTimes(index, queries, () => false)))
    Object.assign(figures, named('search while adding', await searchWhileAdding(index, database, dataset)))
    await index.close()

    index = open()
    figures['load ms'] = await milliseconds(() => index.reconcile(projectId))
    const gone = (await index.search(projectId, dataset.indexed[0] ?? new Float32Array(), 10)).map(
      (hit) => hit.label,
    )
    await database.write.delete(chunks).where(inArray(chunks.label, gone))
    figures['remove 10 ms'] = await milliseconds(() => index.remove(projectId, gone))
    figures['scrub 10 ms'] = await milliseconds(() => index.scrub(projectId))
    figures['memory MB (index, bare graph and vectors)'] = (process.memoryUsage.rss() - rssBefore) / 1e6
    return figures
  } finally {
    await index.close()
    await database.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Vectors in clusters of clusters, as texts of a few subjects are. The same in every run. */
export function clusteredVectors(dimensions: number, seed = 1): VectorSource {
  return (count, queryCount) => {
    const gaussian = seededGaussian(seed)
    const direction = () => unit(Float32Array.from({ length: dimensions }, gaussian))
    const near = (centre: Float32Array, spread: number) =>
      unit(centre.map((value) => value + (spread * gaussian()) / Math.sqrt(dimensions)))
    const subjects = Array.from({ length: 40 }, direction)
    const topics = subjects.flatMap((subject) => Array.from({ length: 50 }, () => near(subject, 0.7)))
    const draw = () =>
      near(topics[Math.floor(Math.abs(gaussian()) * 1e6) % topics.length] ?? direction(), 0.8)
    return {
      vectors: Array.from({ length: count }, draw),
      queries: Array.from({ length: queryCount }, draw),
    }
  }
}

/** Blocks of both ways alternate, so that whatever else the machine does meets both. */
async function measureAdding(
  hnswlib: Hnswlib,
  index: VectorIndex,
  database: OpenDatabase,
  vectors: Float32Array[],
): Promise<Record<string, number>> {
  const dimensions = vectors[0]?.length ?? 0
  const bare = new hnswlib.HierarchicalNSW('ip', dimensions)
  bare.initIndex(vectors.length, linksPerVector, efConstruction, levelSeed)
  let bareMs = 0
  let indexMs = 0
  for (let start = 0; start < vectors.length; start += blockVectors) {
    const block = vectors.slice(start, start + blockVectors)
    const labels = await insert(database, block)
    bareMs += await milliseconds(async () => {
      for (const [position, vector] of block.entries())
        bare.addPoint(Array.from(vector), labels[position] ?? 0)
    })
    indexMs += await milliseconds(() => index.add(projectId, labels))
    progress(`added ${start + block.length} of ${vectors.length}`)
  }
  bare.initIndex(1)
  return {
    vectors: vectors.length,
    'bare addPoint ms': bareMs / vectors.length,
    'index add ms': indexMs / vectors.length,
    'adding ratio (bare / index)': bareMs / indexMs,
  }
}

/** By distance: of equally near vectors either is right. */
async function measureRecall(
  index: VectorIndex,
  vectors: Float32Array[],
  queries: Float32Array[],
): Promise<number> {
  let found = 0
  for (const query of queries) {
    const farthest = vectors.map((vector) => dot(query, vector)).sort((a, b) => b - a)[neighbours - 1] ?? -1
    const hits = await index.search(projectId, query, neighbours)
    found += hits.filter((hit) => hit.similarity >= farthest - 1e-5).length
  }
  return found / (queries.length * neighbours)
}

async function searchTimes(
  index: VectorIndex,
  queries: Float32Array[],
  isOver: () => boolean,
): Promise<number[]> {
  const times: number[] = []
  while (times.length < timedSearches && !isOver()) {
    const query = queries[times.length % queries.length] ?? new Float32Array()
    times.push(await milliseconds(() => index.search(projectId, query, neighbours)))
    // Back to back would leave the worker no time to add.
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
  return times
}

async function searchWhileAdding(
  index: VectorIndex,
  database: OpenDatabase,
  dataset: { extra: Float32Array[]; queries: Float32Array[] },
): Promise<number[]> {
  const labels = await insert(database, dataset.extra)
  let isAdded = false
  const adding = index.add(projectId, labels).then(() => {
    isAdded = true
  })
  const times = await searchTimes(index, dataset.queries, () => isAdded)
  await adding
  return times
}

async function insertProject(database: OpenDatabase): Promise<void> {
  const { write } = database
  await write.insert(projects).values({ id: projectId, publicId: 'bench', name: 'bench', createdAt: 0 })
  const item = {
    id: 'bench',
    name: 'bench',
    description: '',
    text: '',
    textHash: '',
    changeSeq: 0,
    createdAt: 0,
  }
  await write.insert(knowledgeItems).values({ seq: 1, projectId, ...item })
}

async function insert(database: OpenDatabase, vectors: Float32Array[]): Promise<number[]> {
  const labels: number[] = []
  const columns = { projectId, itemSeq: 1, position: 0, text: 'x'.repeat(800), overlapChars: 0, textHash: '' }
  for (let start = 0; start < vectors.length; start += blockVectors) {
    const rows = vectors.slice(start, start + blockVectors).map((vector) => ({
      ...columns,
      embedding: Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength),
      embeddingSpace: space,
    }))
    const inserted = await database.write.insert(chunks).values(rows).returning({ label: chunks.label })
    labels.push(...inserted.map((row) => row.label))
  }
  return labels
}

function named(name: string, times: number[]): Record<string, number> {
  const sorted = times.toSorted((a, b) => a - b)
  const at = (share: number) => sorted[Math.floor((sorted.length - 1) * share)] ?? 0
  return { [`${name} p50 ms`]: at(0.5), [`${name} p99 ms`]: at(0.99), [`${name} searches`]: sorted.length }
}

async function milliseconds(run: () => Promise<unknown>): Promise<number> {
  const start = performance.now()
  await run()
  return performance.now() - start
}

function seededGaussian(seed: number): () => number {
  let state = seed
  const uniform = () => {
    // Mulberry32.
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
  // Box and Muller's transform.
  return () => Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform())
}

function unit(vector: Float32Array): Float32Array {
  const norm = Math.sqrt(dot(vector, vector))
  return vector.map((value) => value / norm)
}

function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0
  for (let position = 0; position < a.length; position++) sum += (a[position] ?? 0) * (b[position] ?? 0)
  return sum
}

function progress(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r${text}   `)
}

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { vectors: { type: 'string' }, dimensions: { type: 'string' } } })
  const count = Math.min(Number(values.vectors ?? limits.vectorsDefault), limits.vectorsMax)
  const dimensions = Number(values.dimensions ?? 384)
  if (!(count > 0 && dimensions > 0))
    throw new Error('Usage: bun scripts/bench/vector-index.ts [--vectors N] [--dimensions N]')
  const figures = await benchVectorIndex(clusteredVectors(dimensions), count)
  const parameters = { M: linksPerVector, efConstruction, efSearch, dimensions }
  process.stdout.write(`${JSON.stringify({ ...parameters, ...figures }, null, 2)}\n`)
}

if (import.meta.main) await main()
