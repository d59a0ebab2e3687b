/** Characters of a text that the head row keeps; the document holds all of it. */
const headTextCharsMax = 200

/** The start of a text that the head row keeps and that filters compare. */
export function headText(text: string | null): string | null {
  return text === null ? null : text.slice(0, headTextCharsMax).toWellFormed()
}

/** A number without separators, as the columns of digits have it. */
export function digitsOf(number: string): string {
  return number.replace(/[ +\-()./]/g, '')
}
