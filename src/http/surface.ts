import type { KeyKind } from '../auth/token.ts'
import type { AppError } from '../errors.ts'
import { type ConsoleAccess, consoleAccess, strangersBodyBytesMax } from './console-access.ts'

/** The part of the service that a request is for: what decides how it is judged. */
export interface Surface {
  /** The kind of key that opens it; null when it takes no key. */
  readonly keyKind: KeyKind | null
  /** Who may use it, when it is the console's interface. */
  readonly access: ConsoleAccess | null
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
  /** The value to judge instead of the Authorization header, where the key may also come another way. */
  authorizationOf?(headers: Headers): string | null
  /** The JSON body of an error. Its status and headers are the same everywhere. */
  errorBody(error: AppError): object
}

export type SurfaceOf = (method: string, path: string) => Surface

interface SurfacesOptions {
  protocols: readonly Protocol[]
  /** The most that one body may have. */
  bodyBytesMax: number
  /** Headers of the page at /docs. */
  docsHeaders: Record<string, string>
}

/** Finds the surface of a request from its method and path. */
export function surfaces({ protocols, bodyBytesMax, docsHeaders }: SurfacesOptions): SurfaceOf {
  const open: Surface = { keyKind: null, access: null, protocol: null, bodyBytesMax }
  const live: Surface = { ...open, keyKind: 'live' }
  const keyed: readonly { prefix: string; surface: Surface }[] = [
    { prefix: '/v1', surface: live },
    { prefix: '/ingest', surface: { ...open, keyKind: 'ingest' } },
    ...protocols.map((protocol) => ({ prefix: protocol.prefix, surface: { ...live, protocol } })),
    { prefix: '/integrations', surface: live },
    { prefix: '/mcp', surface: live },
  ]
  const docs: Surface = { ...open, headers: docsHeaders }
  return (method, path) => {
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
