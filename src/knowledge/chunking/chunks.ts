import { chunkCharsMax, cutSection } from './cuts.ts'
import { withoutLinks } from './links.ts'
import { createHeadingPaths, findSections, headingSeparator, type Section } from './sections.ts'

/** One piece of a knowledge item's text: what is embedded, searched and answered with. */
export interface Chunk {
  position: number
  /** Titles of the section the chunk starts in and of those above it, joined by ` › `. */
  heading: string | null
  text: string
  /** How many leading characters of `text` repeat the end of the chunk before. */
  overlapChars: number
}

/** To be raised by whoever changes what chunk or embedded text comes out; part of every embedding space. */
export const chunkerVersion = 2

/** Smaller chunks are merged with a neighbour under the same parent heading. */
export const chunkCharsMin = 200

/**
 * Splits a Markdown or plain text at its headings, and what is then still too long at paragraphs, lines,
 * sentences, words. Nothing is lost: the chunks without their overlaps, joined, are the text. Linear in time
 * whatever the text. A chunk is white space only where the text has nothing else for a chunk's whole length.
 */
export function splitIntoChunks(text: string): Chunk[] {
  const pieces: Piece[] = []
  for (const section of findSections(text)) {
    for (const { start, end, overlapChars } of cutSection(text, section.start, section.end)) {
      pieces.push({ start, end, overlapChars, section })
    }
  }
  const headingPath = createHeadingPaths()
  return mergeTiny(pieces).map(({ start, end, overlapChars, section }, position) => ({
    position,
    heading: headingPath(section),
    text: text.slice(start - overlapChars, end),
    overlapChars,
  }))
}

/**
 * What is embedded for a chunk: the item's name and the heading path on a line of their own, then the text without
 * its links.
 */
export function embeddedText(itemName: string, chunk: { heading: string | null; text: string }): string {
  return `${contextLine(itemName.trim(), chunk.heading)}\n${withoutLinks(chunk.text)}`
}

/** A chunk to be, by offsets: its own text from `start`, its overlap before that. */
interface Piece {
  start: number
  end: number
  overlapChars: number
  section: Section
}

/** Forward first, so that a bare title goes to the text below it; then what is still tiny, backward. */
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

/** Where a chunk stands: the item's name and the heading path, without saying the same twice. */
export function contextLine(name: string, heading: string | null): string {
  if (heading === null) return name
  const [first = ''] = heading.split(headingSeparator, 1)
  const repeats = name === '' || fold(first) === fold(name) || fold(heading) === fold(name)
  return repeats ? heading : name + headingSeparator + heading
}

function fold(text: string): string {
  return text.normalize('NFKC').toLowerCase()
}
