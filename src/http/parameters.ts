/** The texts of each query parameter of a request, in order. */
export function readParameters(url: string): Record<string, string[]> {
  const parameters: Record<string, string[]> = Object.create(null)
  for (const [name, text] of new URLSearchParams(/\?([^#]*)/.exec(url)?.[1])) {
    parameters[name] ??= []
    parameters[name].push(text)
  }
  return parameters
}
