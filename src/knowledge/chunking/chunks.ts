import { type Cut, chunkCharsMax, cutSection } from './cuts.ts'
import { withoutLinks } from './links.ts'
import { passageText } from './passage-text.ts'
import { createHeadingPaths, findSections, headingSeparator, type Section } from './sections.ts'

/** A piece of a knowledge item's text. Chunks are what is embedded, searched and returned. */
export interface Chunk {
  position: number
  /** The titles of the chunk's first section and of the sections around it, outermost first, joined by ` › `. */
  heading: string | null
  text: string
  /** How many characters at the start of `text` repeat the end of the chunk before. */
  overlapChars: number
}

/** Part of every embedding space. Raise it when a change alters chunks or their embedded text. */
export const chunkerVersion = 4

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

/** What is embedded for a chunk: a line with the item's name and the heading path, then the text without links. */
export function embeddedText(itemName: string, chunk: { heading: string | null; text: string }): string {
  return `${contextLine(itemName.trim(), chunk.heading)}\n${withoutLinks(chunk.text)}`
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

/** The item's name and the chunk's heading path, without repeating the name. */
export function contextLine(name: string, heading: string | null): string {
  if (heading === null) return name
  const [first = ''] = heading.split(headingSeparator, 1)
  const repeats = name === '' || fold(first) === fold(name) || fold(heading) === fold(name)
  return repeats ? heading : name + headingSeparator + heading
}

function fold(text: string): string {
  return text.normalize('NFKC').toLowerCase()
}
