/** Values separated by commas. `\,` is a comma within a value, `\\` a backslash, and any other backslash itself. */
export function splitValues(text: string): string[] {
  const values: string[] = []
  for (const [, value = '', end] of text.matchAll(/((?:\\[\\,]|[^,])*)(,|$)/g)) {
    values.push(value.replace(/\\([\\,])/g, '$1'))
    if (!end) break
  }
  return values
}

/** The text that `splitValues` reads as this one value. */
export function escapeValue(value: string): string {
  return value.replace(/[\\,]/g, '\\$&')
}
