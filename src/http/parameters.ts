/** The texts of each query parameter of a request, in order. */
export function readParameters(url: string): Record<string, string[]> {
  const query = /\?([^#]*)/.exec(url)?.[1] ?? ''
  const parameters: Record<string, string[]> = Object.create(null)
  for (const part of query.split('&').filter(Boolean)) {
    const [name = '', ...text] = part.split('=')
    parameters[unescaped(name)] ??= []
    parameters[unescaped(name)]?.push(unescaped(text.join('=')))
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
