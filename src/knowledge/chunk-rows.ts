import { createHash } from 'node:crypto'
import { splitIntoChunks } from './chunks.ts'

/**
 * A text's chunks as the JSON that the insert takes: an array of [position, heading, text, overlapChars, SHA-256
 * of the text].
 */
export function toChunkRows(text: string): string {
  return JSON.stringify(
    splitIntoChunks(text).map((chunk) => [
      chunk.position,
      chunk.heading,
      chunk.text,
      chunk.overlapChars,
      sha256(chunk.text),
    ]),
  )
}

export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
