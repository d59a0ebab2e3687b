/** Characters of a filter column kept in the head row; the document holds the whole value. */
const headTextCharsMax = 200

/** What is filtered by of a text. */
export function headText(text: string | null): string | null {
  return text === null ? null : text.slice(0, headTextCharsMax).toWellFormed()
}
