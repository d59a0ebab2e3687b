import { embeddedText } from '../../src/knowledge/chunking/chunk.ts'
import { splitIntoChunks } from '../../src/knowledge/chunking/chunks.ts'
import { createBuiltinEmbedder } from '../../src/knowledge/embedding/builtin.ts'
import type { ItemState } from './model.ts'

const embedder = createBuiltinEmbedder()

const shortOfOne = 16_384

export const vectorBytes = (embedder.dimensions ?? 0) * Float32Array.BYTES_PER_ELEMENT

/** Computes the vectors of an item's chunks as the service does, as bytes. */
export async function vectorsOf({ name, text }: ItemState): Promise<Buffer[]> {
  const texts = splitIntoChunks(text).map((chunk) => embeddedText(name, chunk))
  const vectors = await embedder.embed(texts, 'document', new AbortController().signal)
  return vectors.map(({ buffer, byteOffset, byteLength }) => Buffer.from(buffer, byteOffset, byteLength))
}

/** What an index file has of vectors that are given as the database has them: see scripts/short-space.h. */
export function inIndex(vectors: Uint8Array): Buffer {
  const numbers = new Float32Array(Uint8Array.from(vectors).buffer)
  return Buffer.from(Int16Array.from(numbers, (number) => rounded(number * shortOfOne)).buffer)
}

/** As C rounds: halves away from zero, which `Math.round` does for positive numbers only. */
function rounded(number: number): number {
  return Math.sign(number) * Math.round(Math.abs(number))
}
