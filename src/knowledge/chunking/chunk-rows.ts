import { createHash } from 'node:crypto'
import { toIndexedWords } from '../../text/words.ts'
import type { ChunkPreview } from '../schemas.ts'
import { type Chunk, splitIntoChunks } from './chunks.ts'
import { withLabels } from './passage-text.ts'

/** A text's chunks as JSON for the inserts. */
export interface ChunkRows {
  /** An array of chunks, each with its `textHash`, the SHA-256 of its text. */
  rows: string
  /** An object of [heading, text] by position: what the keyword index stores, where it differs from the row. */
  words: string
}

export function toChunkRows(text: string): ChunkRows {
  const chunks = splitIntoChunks(text)
  return {
    rows: JSON.stringify(chunks.map((chunk) => ({ ...chunk, textHash: sha256(chunk.text) }))),
    words: JSON.stringify(Object.fromEntries(chunks.flatMap(toWords))),
  }
}

/** The chunk as agents get it, with its lengths in code points. */
export function toChunkPreview({ position, heading, text, overlapChars }: Chunk): ChunkPreview {
  const given = withLabels(text)
  const characters = [...given].length
  // A link may begin in the overlap and end after it.
  const ownCharacters = [...withLabels(text.slice(overlapChars))].length
  const overlapCharacters = overlapChars === 0 ? 0 : Math.max(0, characters - ownCharacters)
  return { position, heading, text: given, characters, overlapCharacters }
}

export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

function toWords({ position, heading, text }: Chunk): [position: number, words: [string, string]][] {
  const words: [string, string] = [toIndexedWords(heading ?? ''), toIndexedWords(text)]
  return words[0] === (heading ?? '') && words[1] === text ? [] : [[position, words]]
}
