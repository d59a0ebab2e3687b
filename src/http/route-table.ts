/** Which pattern and which methods a path has. Patterns are literal but for one parameter at their end. */
export class RouteTable {
  readonly #methods = new Map<string, Set<string>>()

  constructor(routes: readonly { method: string; path: string }[]) {
    for (const { method, path } of routes) {
      const methods = this.#methods.get(path) ?? new Set()
      methods.add(method.toUpperCase())
      if (method.toUpperCase() === 'GET') methods.add('HEAD')
      this.#methods.set(path, methods)
    }
  }

  /** The pattern that a path matches, such as `/v1/calls/:id`; null when there is none. */
  patternOf(path: string): string | null {
    if (this.#methods.has(path)) return path
    const end = path.lastIndexOf('/')
    if (end === path.length - 1) return this.#methods.has(path.slice(0, end)) ? path.slice(0, end) : null
    const pattern = `${path.slice(0, end)}/:id`
    return this.#methods.has(pattern) ? pattern : null
  }

  /** The methods that the request's path takes; none when there is no such path. */
  methodsOf(request: Request): string[] {
    const pattern = this.patternOf(pathOf(request.url))
    return pattern ? [...(this.#methods.get(pattern) ?? [])].sort() : []
  }
}

/** The path of an absolute URL, without the cost of parsing all of it. */
export function pathOf(url: string): string {
  const start = url.indexOf('/', url.indexOf('//') + 2)
  if (start < 0) return '/'
  const end = url.indexOf('?', start)
  return end < 0 ? url.slice(start) : url.slice(start, end)
}
