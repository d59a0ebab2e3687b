export interface ChunkRow {
  itemId: string
  position: number
  text: string
  vector: Float32Array
}

/** Chunks whose similarity differs by less are equally right. */
const tolerance = 1e-5

/**
 * The share of the nearest chunks that the hits contain. A hit may be several joined chunks: it contains the chunks
 * from its position on whose text is part of its own.
 */
export function recallOf(
  query: Float32Array,
  { chunks, hits, neighbours }: { chunks: ChunkRow[]; hits: Omit<ChunkRow, 'vector'>[]; neighbours: number },
): number {
  const near = chunks.map((chunk) => ({ chunk, similarity: dot(query, chunk.vector) }))
  near.sort((a, b) => b.similarity - a.similarity)
  const wanted = Math.min(neighbours, near.length)
  const farthest = near[wanted - 1]?.similarity ?? 1
  const found = near.filter(
    ({ chunk, similarity }) => similarity >= farthest - tolerance && hits.some((hit) => covers(hit, chunk)),
  )
  return Math.min(found.length, wanted) / wanted
}

function covers(hit: Omit<ChunkRow, 'vector'>, { itemId, position, text }: ChunkRow): boolean {
  return hit.itemId === itemId && hit.position <= position && hit.text.includes(text)
}

function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0
  for (let index = 0; index < a.length; index++) sum += (a[index] ?? 0) * (b[index] ?? 0)
  return sum
}
