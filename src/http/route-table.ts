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
    // The router takes one slash more at the end of a path.
    const bare = path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path
    if (this.#methods.has(bare)) return bare
    const pattern = `${bare.slice(0, bare.lastIndexOf('/'))}/:id`
    return !bare.endsWith('/') && this.#methods.has(pattern) ? pattern : null
  }

  /** The methods that the request's path takes; none when there is no such path. */
  methodsOf(request: Request): string[] {
    const pattern = this.patternOf(pathOf(request.url))
    return pattern ? [...(this.#methods.get(pattern) ?? [])].sort() : []
  }
}

/**
 * The request with an absolute URL. Without a usable `Host` it has a path only, in which the router and whoever
 * judges the path would each find another one. Its peer is unknown then, which no allow-list but `*` lets pass.
 */
export function withAbsoluteUrl(request: Request): Request {
  return request.url.startsWith('/') ? new Request(`http://unknown.invalid${request.url}`, request) : request
}

/** The path of an absolute URL, without the cost of parsing all of it. */
export function pathOf(url: string): string {
  const start = url.indexOf('/', url.indexOf('//') + 2)
  if (start < 0) return '/'
  const end = url.indexOf('?', start)
  return end < 0 ? url.slice(start) : url.slice(start, end)
}
