/** How many characters of a text are searched between two pauses. */
const windowChars = 65_536
/** How far a regular expression may look around the start of a match, not counting digits in a row. */
const reachChars = 1_024
/** Characters before a match. */
const beforeChars = 2

/**
 * The matches of a global regular expression as `matchAll` finds them, with pauses (undefined) in a long text.
 * @param pattern looks no further than 1,024 characters from where it starts, or matches more than that in a row
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
    for (let found = search.exec(part); found; found = search.exec(part)) {
      const index = start + found.index
      if (!isLast && index >= end - reachChars) break
      if (!isLast && index + found[0].length > end - reachChars / 2) {
        // It may go on behind the window.
        from = index
        chars = 2 * (end - index) + windowChars
        break
      }
      yield Object.assign(found, { index })
      from = Math.max(from, index + found[0].length)
    }
    yield undefined
  }
}
