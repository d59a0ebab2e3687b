import { headingSeparator } from './chunk.ts'
import { findHeadings, type Heading, readTitle } from './headings.ts'

/** A heading and the text below it, up to the next heading of any level. */
export interface Section {
  start: number
  end: number
  /** Null for the text before the first heading. */
  heading: Heading | null
  /** The section of the nearest heading before it that is of a higher rank. */
  parent: Section | null
}

/** The sections of a text in order. Together they are the whole text. */
export function findSections(text: string): Section[] {
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
export function createHeadingPaths(): (section: Section) => string | null {
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
