import type { Chunk } from './chunk.ts'
import { type Cut, chunkCharsMax, cutSection } from './cuts.ts'
import { passageText } from './passage-text.ts'
import { createHeadingPaths, findSections, type Section } from './sections.ts'

/** Smaller chunks are merged with a neighbour under the same parent heading. */
export const chunkCharsMin = 200

/**
 * Splits a Markdown or plain text at its headings. Sections that are too long are split at paragraphs, lines, sentences
 * or words. Nothing is lost: without their overlaps, the chunks add up to the text as `passageText` gives it. The time is
 * linear for any text. A chunk is only white space where the text has a chunk's length of white space.
 */
export function splitIntoChunks(source: string): Chunk[] {
  const text = passageText(source)
  const pieces = findSections(text).flatMap((section) =>
    cutSection(text, section.start, section.end).map((cut): Piece => ({ ...cut, section })),
  )
  const headingPath = createHeadingPaths()
  return mergeTiny(pieces).map(({ start, end, overlapChars, section }, position) => ({
    position,
    heading: headingPath(section),
    text: text.slice(start - overlapChars, end),
    overlapChars,
  }))
}

/** A future chunk. */
interface Piece extends Cut {
  section: Section
}

/** Merges forward first, so that a bare title joins the text below it. Then merges backward what is still tiny. */
function mergeTiny(pieces: Piece[]): Piece[] {
  const forward = mergeNeighbours(pieces, (piece) => charsOf(piece) < chunkCharsMin)
  return mergeNeighbours(forward, (_, next) => charsOf(next) < chunkCharsMin)
}

function mergeNeighbours(pieces: Piece[], wanted: (piece: Piece, next: Piece) => boolean): Piece[] {
  const merged: Piece[] = []
  for (const next of pieces) {
    const piece = merged.at(-1)
    if (piece && wanted(piece, next) && belongTogether(piece, next)) piece.end = next.end
    else merged.push(next)
  }
  return merged
}

function belongTogether(piece: Piece, next: Piece): boolean {
  if (charsOf(piece) + next.end - next.start > chunkCharsMax) return false
  if (piece.section === next.section) return true
  const { parent } = piece.section
  let above = next.section.parent
  while (above && above !== parent) above = above.parent
  return above === parent
}

function charsOf(piece: Piece): number {
  return piece.end - piece.start + piece.overlapChars
}
