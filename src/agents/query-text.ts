/** The most code points of a query. */
export const queryCharsMax = 2_000

/** Shortens a text to its end, which usually has the question. */
export function toQuery(text: string): string {
  const trimmed = text.trim()
  if (trimmed.length <= queryCharsMax) return trimmed
  // A code point has at most two units, so this keeps enough of them even if it starts with half of one.
  return [...trimmed.slice(-2 * queryCharsMax)].slice(-queryCharsMax).join('').trim()
}
