import type { Right } from '../identity.ts'

/** Who may send a request to the console's interface. `project` is a public id, as in the path. */
export type ConsoleAccess =
  | { for: 'everyone' }
  | { for: 'signedIn' }
  | { for: 'consoleOwner' }
  | { for: Right; project: string }

const prefix = '/console/api'

/** Parts of a project that everybody in it sees; any other part needs the right to manage the project. */
const sharedParts = [
  'call-facets',
  'calls',
  'changes',
  'exports',
  'knowledge',
  'overview',
  'questions',
  'views',
]

/**
 * Requests for shared parts that need another right than their method says: reading needs `see`, DELETE `delete`, and
 * anything else `change`. A route that only asks, or that deletes by POST, is listed here, and views, which everybody
 * keeps for themselves: see views.ts.
 */
const exceptions: readonly (readonly [request: RegExp, needs: Right])[] = [
  [/^POST knowledge\/search$/, 'see'],
  [/^POST views$/, 'see'],
  [/^DELETE views\/[^/]+$/, 'see'],
]

/** Who may send such a request; null when it is not under the console's interface. */
export function consoleAccess(method: string, path: string): ConsoleAccess | null {
  if (path !== prefix && !path.startsWith(`${prefix}/`)) return null
  const [first, second, ...rest] = path.slice(prefix.length + 1).split('/')
  if (first === 'projects' && second) return { for: rightFor(method, rest), project: second }
  if (first === 'people') return { for: 'consoleOwner' }
  return { for: isOpen(method, first, second) ? 'everyone' : 'signedIn' }
}

function rightFor(method: string, parts: string[]): Right {
  if (!parts[0] || !sharedParts.includes(parts[0])) return 'manage'
  // The router accepts one slash more at the end of a path.
  const request = `${method} ${parts.join('/').replace(/\/$/, '')}`
  const exception = exceptions.find(([pattern]) => pattern.test(request))
  if (exception) return exception[1]
  if (isSafe(method)) return 'see'
  return method === 'DELETE' ? 'delete' : 'change'
}

/** The largest body from somebody who is not signed in: enough for a password, and no more. */
export const strangersBodyBytesMax = 16_384

/** Whether the method changes nothing, so that it does no harm when a foreign page makes a browser send it. */
export function isSafe(method: string): boolean {
  return method === 'GET' || method === 'HEAD'
}

/** Asking who is signed in, signing in, and using a one-time link. */
function isOpen(method: string, first: string | undefined, second: string | undefined): boolean {
  if (first === 'session' && !second) return isSafe(method) || method === 'POST'
  if (first === 'session' && second === 'code') return method === 'POST'
  return first === 'links' && Boolean(second) && method === 'POST'
}
