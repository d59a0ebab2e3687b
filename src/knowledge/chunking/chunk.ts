import { createHash } from 'node:crypto'
import { withoutLinks } from './passage-text.ts'

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

export const headingSeparator = ' › '

/** What is embedded for a chunk: a line with the item's name and the heading path, then the text without links. */
export function embeddedText(itemName: string, chunk: { heading: string | null; text: string }): string {
  return `${contextLine(itemName.trim(), chunk.heading)}\n${withoutLinks(chunk.text)}`
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

export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
