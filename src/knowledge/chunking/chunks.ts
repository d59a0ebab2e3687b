import { type Chunk, headingSeparator } from './chunk.ts'
import { type Cut, chunkCharsMax, cutSection } from './cuts.ts'
import { findHeadings, type Heading, readTitle } from './headings.ts'
import { passageText } from './passage-text.ts'

/** Smaller chunks are merged with a neighbour under the same parent heading. */
const chunkCharsMin = 200

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

/** A heading and the text below it, up to the next heading of any level. */
interface Section {
  start: number
  end: number
  /** Null for the text before the first heading. */
  heading: Heading | null
  /** The section of the nearest heading before it that is of a higher rank. */
  parent: Section | null
}

/** The sections of a text in order. Together they are the whole text. */
function findSections(text: string): Section[] {
  const headings = findHeadings(text)
  const sections: Section[] = []
  const firstStart = headings[0]?.start ?? text.length
  // White space before the first heading goes to its section: alone it would become an empty chunk.
  const hasPreamble = text !== '' && (headings.length === 0 || text.slice(0, firstStart).trim() !== '')
  if (hasPreamble) sections.push({ start: 0, end: firstStart, heading: null, parent: null })
  let open: Section | null = null
  for (const [index, heading] of headings.entries()) {
    while (open?.heading && open.heading.level >= heading.level) open = open.parent
    const start = sections.length === 0 ? 0 : heading.start
    const end = headings[index + 1]?.start ?? text.length
    open = { start, end, heading, parent: open }
    sections.push(open)
  }
  return sections
}

/** Returns a function that gives a section's titles, outermost first. Parsing a title is slow: each is parsed once. */
function createHeadingPaths(): (section: Section) => string | null {
  const titles = new Map<Heading, string>()
  return (section) => {
    const path: string[] = []
    for (let above: Section | null = section; above?.heading; above = above.parent) {
      const title = titles.get(above.heading) ?? readTitle(above.heading)
      titles.set(above.heading, title)
      if (title !== '') path.unshift(title)
    }
    return path.length === 0 ? null : path.join(headingSeparator)
  }
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

function mergeNeighbours(pieces: Piece[], shouldMerge: (piece: Piece, next: Piece) => boolean): Piece[] {
  const groups: Piece[] = []
  for (const next of pieces) {
    const piece = groups.at(-1)
    if (piece && shouldMerge(piece, next) && belongTogether(piece, next)) piece.end = next.end
    else groups.push(next)
  }
  return groups
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
