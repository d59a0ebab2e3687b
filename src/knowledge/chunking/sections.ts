import { findHeadings, type Heading } from './headings.ts'
import { readTitle } from './titles.ts'

/** A heading and the text below it, up to the next heading of any level. */
export interface Section {
  start: number
  end: number
  /** Null for the text before the first heading. */
  heading: Heading | null
  /** The section of the heading above in rank. */
  parent: Section | null
}

export const headingSeparator = ' › '

/** Sections in order, which together are the whole text. */
export function findSections(text: string): Section[] {
  const headings = findHeadings(text)
  const sections: Section[] = []
  const firstStart = headings[0]?.start ?? text.length
  // White space before the first heading belongs to it: on its own it would be an empty chunk.
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

/** Titles from the outermost section to the one asked for. Each title is read once: that is the costly part. */
export function createHeadingPaths(text: string): (section: Section) => string | null {
  const titles = new Map<Heading, string>()
  return (section) => {
    const path: string[] = []
    for (let above: Section | null = section; above?.heading; above = above.parent) {
      const title = titles.get(above.heading) ?? readTitle(text, above.heading)
      titles.set(above.heading, title)
      if (title !== '') path.unshift(title)
    }
    return path.length === 0 ? null : path.join(headingSeparator)
  }
}
