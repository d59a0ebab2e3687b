import type { Right } from '../identity.ts'

/** Who may send a request to the console's API. `project` is a public id, as in the path. */
export type ConsoleAccess =
  | { for: 'everyone' }
  /** `isForEntry`: also for people who must set up a second factor before anything else. */
  | { for: 'signedIn'; isForEntry: boolean }
  | { for: 'consoleOwner' }
  | { for: Right; project: string }

const prefix = '/console/api'

/** Parts of a project that all its people see. Other parts need the right to manage the project. */
const sharedParts = [
  'alerts',
  'analysis',
  'call-facets',
  'call-sets',
  'callers',
  'calls',
  'cases',
  'changes',
  'compare',
  'exports',
  'knowledge',
  'metrics',
  'overview',
  'questions',
  'views',
]

/**
 * Requests for shared parts whose needed right does not follow from the method (`see` for reading, `delete` for DELETE,
 * otherwise `change`): routes that only ask, views, which everybody has (see console/views.ts), and legal holds, whose reasons are
 * for those who work on calls.
 */
const exceptions: readonly (readonly [request: RegExp, needs: Right])[] = [
  [/^POST knowledge\/search$/, 'see'],
  [/^POST alerts\/preview$/, 'see'],
  // A queue is its person's own, and a viewer may look through one.
  [/^POST call-sets$/, 'see'],
  [/^DELETE call-sets\/[^/]+$/, 'see'],
  // Members may delete what they may make.
  [/^DELETE (?:alerts|cases)\/[^/]+$/, 'change'],
  [/^POST callers$/, 'see'],
  [/^POST views$/, 'see'],
  [/^(?:PUT|PATCH|DELETE) views\/[^/]+$/, 'see'],
  [/^DELETE questions\/golden\/[^/]+$/, 'change'],
  // What a model is asked, and what that costs, is for owners to decide.
  [/^(?!GET|HEAD)[A-Z]+ analysis(?:\/|$)/, 'manage'],
  [/^(?:GET|HEAD) call(?:s|ers)\/[^/]+\/holds$/, 'change'],
]

/** Who may send such a request; null if it is not for the console's API. */
export function consoleAccess(method: string, path: string): ConsoleAccess | null {
  if (path !== prefix && !path.startsWith(`${prefix}/`)) return null
  const [first, second, ...rest] = path.slice(prefix.length + 1).split('/')
  if (first === 'projects' && second) return { for: rightFor(method, rest), project: second }
  if (first === 'people' || first === 'operator') return { for: 'consoleOwner' }
  if (isOpen(method, first, second)) return { for: 'everyone' }
  return { for: 'signedIn', isForEntry: first === 'session' || first === 'two-factor' }
}

function rightFor(method: string, parts: string[]): Right {
  if (!parts[0] || !sharedParts.includes(parts[0])) return 'manage'
  // The router accepts one trailing slash.
  const request = `${method} ${parts.join('/').replace(/\/$/, '')}`
  const exception = exceptions.find(([pattern]) => pattern.test(request))
  if (exception) return exception[1]
  if (isSafe(method)) return 'see'
  return method === 'DELETE' ? 'delete' : 'change'
}

/** Whether the method changes nothing, so that a forged request does no harm. */
export function isSafe(method: string): boolean {
  return method === 'GET' || method === 'HEAD'
}

/** Routes without sign-in: the session, signing in, and one-time links. */
function isOpen(method: string, first: string | undefined, second: string | undefined): boolean {
  if (first === 'session' && !second) return isSafe(method) || method === 'POST'
  if (first === 'session' && (second === 'code' || second === 'oidc')) return method === 'POST'
  return first === 'links' && Boolean(second) && method === 'POST'
}
