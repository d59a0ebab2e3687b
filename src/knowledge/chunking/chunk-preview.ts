import type { ChunkPreview } from '../schemas.ts'
import type { Chunk } from './chunk.ts'
import { withLabels } from './passage-text.ts'

/** The chunk as agents get it, with its lengths in code points. */
export function toChunkPreview({ position, heading, text, overlapChars }: Chunk): ChunkPreview {
  const labelledText = withLabels(text)
  const characters = [...labelledText].length
  // A link may begin in the overlap and end after it.
  const ownCharacters = [...withLabels(text.slice(overlapChars))].length
  const overlapCharacters = overlapChars === 0 ? 0 : Math.max(0, characters - ownCharacters)
  return { position, heading, text: labelledText, characters, overlapCharacters }
}
