interface ChunkOfSection {
  heading: string | null
  /** More than 0 only within a section that was too long for one chunk. */
  overlapCharacters: number
}

/** Sections that became several chunks, in order. */
export function splitSections(chunks: readonly ChunkOfSection[]): { heading: string; chunks: number }[] {
  const sections: { heading: string; chunks: number }[] = []
  let isOpen = false
  for (const { heading, overlapCharacters } of chunks) {
    const section = sections.at(-1)
    if (overlapCharacters === 0) {
      isOpen = false
      continue
    }
    if (isOpen && section) section.chunks++
    // This chunk's heading: the previous chunk may carry that of a short section before it.
    else sections.push({ heading: heading ?? 'the beginning', chunks: 2 })
    isOpen = true
  }
  return sections
}
