/** The most code points of a query. */
export const queryCharsMax = 2_000

/** Shortens a text to its end, which usually has the question. */
export function toQuery(text: string): string {
  const said = text.trim()
  if (said.length <= queryCharsMax) return said
  // A code point has at most two units, so this keeps enough of them even if it starts with half of one.
  return [...said.slice(-2 * queryCharsMax)].slice(-queryCharsMax).join('').trim()
}
