import { clip, foldText, indexedWords, stemOf } from '../../text/words.ts'
import { sha256 } from './chunk.ts'
import { splitIntoChunks } from './chunks.ts'

/** A text's chunks as JSON for the inserts. */
export interface ChunkRows {
  /** An array of chunks, each with its `textHash`, the SHA-256 of its text, and its `wordCount`. */
  rows: string
  /** An object of the words that a chunk is found by, stemmed, by position, with a space before each. */
  words: string
}

/** @param name of the item, whose words all its chunks are found by */
export function toChunkRows(text: string, name: string): ChunkRows {
  const stems = new Map<string, string>()
  const wordsOf = (part: string) =>
    indexedWords(part).map((word) => {
      const stem = stems.get(word) ?? ` ${stemOf(clip(foldText(word)))}`
      stems.set(word, stem)
      return stem
    })
  const chunks = splitIntoChunks(text).map((chunk) => {
    const words = wordsOf(`${name} ${chunk.heading ?? ''} ${chunk.text}`)
    return { ...chunk, textHash: sha256(chunk.text), wordCount: words.length, words: words.join('') }
  })
  return {
    rows: JSON.stringify(chunks.map(({ words: _, ...row }) => row)),
    words: JSON.stringify(Object.fromEntries(chunks.map(({ position, words }) => [position, words]))),
  }
}
