/** How many characters are searched between two pauses. */
const windowChars = 65_536
/** How far a pattern may look from the start of a match, not counting consecutive digits. */
const reachChars = 1_024
/** How far a pattern may look behind the start of a match. */
const beforeChars = 2

/**
 * The matches that `matchAll` finds. In a long text it also yields undefined now and then, where the caller may pause.
 * @param pattern global; it looks at most 1,024 characters ahead, unless it matches more than that in one piece
 */
export function* matchesIn(text: string, pattern: RegExp): Generator<RegExpMatchArray | undefined> {
  const search = new RegExp(pattern)
  let chars = windowChars
  for (let from = 0; from < text.length; ) {
    const start = Math.max(0, from - beforeChars)
    const end = from + chars
    const isLast = end >= text.length
    const part = text.slice(start, end)
    search.lastIndex = from - start
    from = isLast ? text.length : end - reachChars
    chars = windowChars
    for (let match = search.exec(part); match; match = search.exec(part)) {
      const index = start + match.index
      if (!isLast && index >= end - reachChars) break
      if (!isLast && index + match[0].length > end - reachChars / 2) {
        // The match may continue beyond the window, so it is searched again in a larger one.
        from = index
        chars = 2 * (end - index) + windowChars
        break
      }
      yield Object.assign(match, { index })
      from = Math.max(from, index + match[0].length)
    }
    yield undefined
  }
}
