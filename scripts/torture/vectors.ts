import { embeddedText } from '../../src/knowledge/chunking/chunk.ts'
import { splitIntoChunks } from '../../src/knowledge/chunking/chunks.ts'
import { createBuiltinEmbedder } from '../../src/knowledge/embedding/builtin.ts'
import type { ItemState } from './model.ts'

const embedder = createBuiltinEmbedder()

const shortOfOne = 16_384
const largestShort = 32_512

export const vectorBytes = (embedder.dimensions ?? 0) * Float32Array.BYTES_PER_ELEMENT

/** Computes the vectors of an item's chunks as the service does, as bytes. */
export async function vectorsOf({ name, text }: ItemState): Promise<Buffer[]> {
  const texts = splitIntoChunks(text).map((chunk) => embeddedText(name, chunk))
  const vectors = await embedder.embed(texts, 'document', new AbortController().signal)
  return vectors.map(({ buffer, byteOffset, byteLength }) => Buffer.from(buffer, byteOffset, byteLength))
}

/** What an index file has of a vector that is given as the database has it: see scripts/short-space.h. */
export function inIndex(vector: Uint8Array): Buffer {
  const numbers = new Float32Array(Uint8Array.from(vector).buffer)
  const largest = numbers.reduce((most, number) => Math.max(most, Math.abs(number)), 0)
  let scale = shortOfOne
  while (2 * scale * largest <= largestShort) scale *= 2
  const shorts = Array.from(numbers, (number) => rounded(number * scale))
  const high = shorts.map((short) => (short + 128) >> 8)
  const low = shorts.map((short, at) => short - (high[at] ?? 0) * 256)
  const unit = new Uint8Array(Float32Array.of(1 / scale).buffer)
  return Buffer.concat([unit, Int8Array.from([...high, ...low])].map((part) => Buffer.from(part)))
}

/** As C rounds: halves away from zero, which `Math.round` does for positive numbers only. */
function rounded(number: number): number {
  return Math.sign(number) * Math.round(Math.abs(number))
}
