/** Code points that a query has at most. */
export const queryCharsMax = 2_000

/** Cuts a text that is too long for a query to its end, since the question is there. */
export function toQuery(text: string): string {
  const said = text.trim()
  if (said.length <= queryCharsMax) return said
  // A code point has at most two units, so this holds enough of them even without a half at its start.
  return [...said.slice(-2 * queryCharsMax)].slice(-queryCharsMax).join('').trim()
}
