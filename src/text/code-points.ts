/** The length of a text in code points, as JSON Schema counts it. */
export function codePoints(text: string): number {
  let count = 0
  for (const _ of text) count++
  return count
}
