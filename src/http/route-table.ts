/** Finds the pattern and the methods of a path. A literal part of a pattern takes precedence over a parameter. */
export class RouteTable {
  readonly #methods = new Map<string, Set<string>>()
  /** Patterns with a parameter before their end, by the number of their parts. */
  readonly #deep = new Map<number, string[][]>()

  constructor(routes: readonly { method: string; path: string }[]) {
    for (const { method, path } of routes) {
      const methods = this.#methods.get(path) ?? new Set()
      methods.add(method.toUpperCase())
      if (method.toUpperCase() === 'GET') methods.add('HEAD')
      if (!this.#methods.has(path) && /:[^/]*\//.test(path)) this.#addDeep(path.split('/'))
      this.#methods.set(path, methods)
    }
  }

  /** The pattern that a path matches, such as `/v1/calls/:id`; null when there is none. */
  patternOf(path: string): string | null {
    // The router accepts one trailing slash.
    const bare = path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path
    if (this.#methods.has(bare)) return bare
    const pattern = `${bare.slice(0, bare.lastIndexOf('/'))}/:id`
    if (!bare.endsWith('/') && this.#methods.has(pattern)) return pattern
    return this.#deepPatternOf(bare.split('/'))
  }

  /** The methods of a path; none if there is no such path. */
  methodsOf(path: string): string[] {
    const pattern = this.patternOf(path)
    return pattern ? [...(this.#methods.get(pattern) ?? [])].sort() : []
  }

  #addDeep(parts: string[]): void {
    this.#deep.set(parts.length, [...(this.#deep.get(parts.length) ?? []), parts])
  }

  #deepPatternOf(parts: string[]): string | null {
    const matching = this.#deep
      .get(parts.length)
      ?.filter((pattern) =>
        pattern.every((part, at) => (part.startsWith(':') ? parts[at] : part === parts[at])),
      )
    if (!matching || matching.length === 0) return null
    const literals = (pattern: string[]) => pattern.filter((part) => !part.startsWith(':')).length
    return matching.reduce((best, next) => (literals(next) > literals(best) ? next : best)).join('/')
  }
}

/**
 * The request with an absolute URL. Without a valid `Host`, its URL is only a path, which the router and the checks
 * would read differently.
 */
export function withAbsoluteUrl(request: Request): Request {
  return request.url.startsWith('/') ? new Request(`http://unknown.invalid${request.url}`, request) : request
}

/** The path of an absolute URL, without parsing the whole URL. */
export function pathOf(url: string): string {
  const start = url.indexOf('/', url.indexOf('//') + 2)
  if (start < 0) return '/'
  const end = url.indexOf('?', start)
  return end < 0 ? url.slice(start) : url.slice(start, end)
}
