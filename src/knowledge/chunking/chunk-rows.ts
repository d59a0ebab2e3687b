import { createHash } from 'node:crypto'
import { toIndexedWords } from '../../text/words.ts'
import { type Chunk, splitIntoChunks } from './chunks.ts'

export type ChunkRow = [
  position: number,
  heading: string | null,
  text: string,
  overlapChars: number,
  textHash: string,
]

/** A text's chunks as JSON for the inserts. */
export interface ChunkRows {
  /** An array of chunk rows, each with the SHA-256 of its text. */
  rows: string
  /** An object of [heading, text] by position: what the keyword index stores, where it differs from the row. */
  words: string
}

export function toChunkRows(text: string): ChunkRows {
  const chunks = splitIntoChunks(text)
  const rows = chunks.map(
    ({ position, heading, text, overlapChars }): ChunkRow => [
      position,
      heading,
      text,
      overlapChars,
      sha256(text),
    ],
  )
  return { rows: JSON.stringify(rows), words: JSON.stringify(Object.fromEntries(chunks.flatMap(toWords))) }
}

/** Parses the rows that toChunkRows made. */
export function readChunkRows(rows: string): ChunkRow[] {
  return JSON.parse(rows)
}

export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

function toWords({ position, heading, text }: Chunk): [position: number, words: [string, string]][] {
  const words: [string, string] = [toIndexedWords(heading ?? ''), toIndexedWords(text)]
  return words[0] === (heading ?? '') && words[1] === text ? [] : [[position, words]]
}
