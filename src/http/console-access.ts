/** Who may send a request to the console's interface. `project` is a public id, as in the path. */
export type ConsoleAccess =
  | { for: 'everyone' }
  | { for: 'signedIn' }
  | { for: 'consoleOwner' }
  | { for: 'members' | 'owners'; project: string }

const prefix = '/console/api'

/** Parts of a project that all its members see; any other part is for owners. */
const partsOfMembers = ['calls', 'changes', 'exports', 'knowledge', 'overview', 'views']

/** Who may send such a request; null when it is not under the console's interface. */
export function consoleAccess(method: string, path: string): ConsoleAccess | null {
  if (path !== prefix && !path.startsWith(`${prefix}/`)) return null
  const [first, second, third] = path.slice(prefix.length + 1).split('/')
  if (first === 'projects' && second) {
    return { for: third && partsOfMembers.includes(third) ? 'members' : 'owners', project: second }
  }
  if (first === 'people') return { for: 'consoleOwner' }
  return { for: isOpen(method, first, second) ? 'everyone' : 'signedIn' }
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
  return first === 'links' && Boolean(second) && method === 'POST'
}
