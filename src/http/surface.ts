import type { KeyKind } from '../auth/token.ts'
import type { AppError } from '../errors.ts'
import type { KeyScope } from '../identity.ts'
import { type ConsoleAccess, consoleAccess, isSafe, strangersBodyBytesMax } from './console-access.ts'

/** The part of the service that a request is for: what decides how it is judged. */
export interface Surface {
  /** The kind of key that opens it; null when it takes no key. */
  readonly keyKind: KeyKind | null
  /** The scope that an API key needs; null where it takes none. */
  readonly scope: KeyScope | null
  /** Whether pages of other origins may use it with a key that allows them. */
  readonly isForPages: boolean
  /** Who may use it, when it is the console's interface. */
  readonly access: ConsoleAccess | null
  /** Whether platforms send their events there, which carry a signature instead of a key. */
  readonly isForSources: boolean
  /** The protocol spoken there, when it is not our own. */
  readonly protocol: Protocol | null
  /** A larger body is 413. */
  readonly bodyBytesMax: number
  /** Headers that every answer there carries. */
  readonly headers?: Record<string, string>
}

/** A third party's protocol, spoken under one path: how it differs from the rest of the service. */
export interface Protocol {
  /** Such as `/integrations/other`: the path itself and everything below it. */
  readonly prefix: string
  /** `ingest` where ingest keys open it; by default API keys that may search do. */
  readonly keyKind?: 'ingest'
  /** The value to judge instead of the Authorization header, where the key may also come another way. */
  authorizationOf?(headers: Headers): string | null
  /** The JSON body of an error. Its status and headers are the same everywhere. */
  errorBody(error: AppError): object
  /** The whole answer of an error, where another body than JSON or another status is wanted. */
  errorAnswer?(error: AppError, request: Request): Response
}

export type SurfaceOf = (method: string, path: string) => Surface

interface SurfacesOptions {
  protocols: readonly Protocol[]
  /** The most that one body may have. */
  bodyBytesMax: number
  /** Headers of the page at /docs. */
  docsHeaders: Record<string, string>
}

/** Routes that need less than their method says: reading needs `read`, anything else `full`. */
const scopes: ReadonlyMap<string, KeyScope> = new Map([
  ['GET /v1/key', 'search'],
  ['HEAD /v1/key', 'search'],
  ['POST /v1/knowledge/search', 'search'],
  ['POST /v1/knowledge/preview', 'read'],
])

/** The scope that a key needs for a request under /v1. A route that nobody lists can only be too strict. */
export function scopeOf(method: string, path: string): KeyScope {
  // The router accepts one slash more at the end of a path.
  const bare = path.endsWith('/') ? path.slice(0, -1) : path
  return scopes.get(`${method} ${bare}`) ?? (isSafe(method) ? 'read' : 'full')
}

/** Finds the surface of a request from its method and path. */
export function surfaces({ protocols, bodyBytesMax, docsHeaders }: SurfacesOptions): SurfaceOf {
  const open: Surface = {
    keyKind: null,
    scope: null,
    isForPages: false,
    access: null,
    isForSources: false,
    protocol: null,
    bodyBytesMax,
  }
  const live = (scope: KeyScope): Surface => ({
    ...open,
    keyKind: 'live',
    scope,
    isForPages: scope !== 'full',
  })
  const ofScope: Record<KeyScope, Surface> = {
    full: live('full'),
    read: live('read'),
    search: live('search'),
  }
  const agents: Surface = { ...ofScope.search, isForPages: false }
  const ingest: Surface = { ...open, keyKind: 'ingest' }
  const keyed: readonly { prefix: string; surface: Surface }[] = [
    // Platforms sign what they send: see src/sources.
    { prefix: '/ingest/from', surface: { ...open, isForSources: true } },
    ...protocols.map((protocol) => ({
      prefix: protocol.prefix,
      surface: { ...(protocol.keyKind === 'ingest' ? ingest : agents), protocol },
    })),
    { prefix: '/ingest', surface: ingest },
    { prefix: '/integrations', surface: agents },
    { prefix: '/mcp', surface: agents },
  ]
  const docs: Surface = { ...open, headers: docsHeaders }
  return (method, path) => {
    if (isUnder(path, '/v1')) return ofScope[scopeOf(method, path)]
    const found = keyed.find(({ prefix }) => isUnder(path, prefix))
    if (found) return found.surface
    if (path === '/docs' || path === '/docs/') return docs
    const access = consoleAccess(method, path)
    if (access?.for !== 'everyone') return access ? { ...open, access } : open
    return { ...open, access, bodyBytesMax: Math.min(strangersBodyBytesMax, bodyBytesMax) }
  }
}

function isUnder(path: string, prefix: string): boolean {
  return path.startsWith(prefix) && (path.length === prefix.length || path[prefix.length] === '/')
}
