/**
 * The query parameters of a request. Values are separated by commas; `%2C` is a comma within a value. If a parameter is
 * repeated, the last one counts.
 * @param repeated `all` to use the values of each
 */
export function readParameters(url: string, repeated: 'last' | 'all' = 'last'): Record<string, string[]> {
  const query = /\?([^#]*)/.exec(url)?.[1] ?? ''
  const parameters: Record<string, string[]> = Object.create(null)
  for (const part of query.split('&').filter(Boolean)) {
    const [name = '', ...value] = part.split('=')
    const before = repeated === 'all' ? (parameters[unescaped(name)] ?? []) : []
    parameters[unescaped(name)] = [...before, ...value.join('=').split(',').map(unescaped)]
  }
  return parameters
}

/** Escapes that are not UTF-8 stay as sent. */
function unescaped(text: string): string {
  const spaced = text.replaceAll('+', ' ')
  try {
    return decodeURIComponent(spaced)
  } catch {
    return spaced
  }
}
