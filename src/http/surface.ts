import type { KeyKind } from '../access/keys/token.ts'
import type { AppError } from '../errors.ts'
import type { Permission } from '../identity.ts'
import { limits } from '../limits.ts'
import { type ConsoleAccess, consoleAccess, isSafe } from './console-access.ts'

/** The part of the service that a request is for, which determines how it is checked. */
export interface Surface {
  /** The kind of key that it needs; null for none. */
  readonly keyKind: KeyKind | null
  /** The permission that its API key needs; null if it takes none. */
  readonly permission: Permission | null
  /** Whether pages of other origins may use it with a key that allows them. */
  readonly isForPages: boolean
  /** Who may use it, if it belongs to the console's API. */
  readonly access: ConsoleAccess | null
  /** Whether platforms send events there, signed instead of with a key. */
  readonly isForSources: boolean
  /** The third party's protocol spoken there; null for our own. */
  readonly protocol: Protocol | null
  /** Headers of every answer there. */
  readonly headers?: Record<string, string>
}

/** A third party's protocol, spoken under one path: how it differs from the rest of the service. */
export interface Protocol {
  /** Such as `/integrations/other`: the path itself and everything below it. */
  readonly prefix: string
  /**
   * `ingest` if it needs an ingest key, null if its requests are signed as those of sources; by default, any API key
   * that may search will do.
   */
  readonly keyKind?: 'ingest' | null
  /** The value to use instead of the Authorization header, if the key may also come another way. */
  authorizationOf?(headers: Headers): string | null
  /** The JSON body of an error. Its status and headers are the same everywhere. */
  errorBody(error: AppError): object
  /** The whole answer to an error, if it needs another body than JSON or another status. */
  errorAnswer?(error: AppError, request: Request): Response
}

export type SurfaceOf = (method: string, path: string) => Surface

interface SurfacesOptions {
  protocols: readonly Protocol[]
  /** Headers of the page at /docs. */
  docsHeaders: Record<string, string>
}

/** Routes that need less than their method suggests. */
const permissions: ReadonlyMap<string, Permission> = new Map([
  ['GET /v1/key', 'search'],
  ['HEAD /v1/key', 'search'],
  ['POST /v1/knowledge/search', 'search'],
  ['POST /v1/knowledge/preview', 'readKnowledge'],
])
/** A receipt is of a call, of an item, or of a request. */
const receiptPath = /^\/v1\/erasures\/[^/]+$/

const uploadPath = /^\/ingest\/calls\/[^/]+\/recording\/?$/
const linkPath = /^\/v1\/calls\/[^/]+\/recording\/links$/

/** The permission that a request under /v1 needs. If a route is missing above, that is only too strict. */
export function permissionFor(method: string, path: string): Permission {
  // The router accepts one slash more at the end of a path.
  const bare = path.endsWith('/') ? path.slice(0, -1) : path
  if (['/v1/sources', '/v1/webhooks'].some((prefix) => isUnder(bare, prefix))) return 'manage'
  const known = permissions.get(`${method} ${bare}`)
  if (known) return known
  const isOfKnowledge = ['/v1/knowledge', '/v1/questions/golden'].some((prefix) => isUnder(bare, prefix))
  if (isOfKnowledge) return isSafe(method) ? 'readKnowledge' : 'changeKnowledge'
  if (isSafe(method)) return receiptPath.test(bare) ? 'readKnowledge' : 'read'
  // A link only lets others listen.
  return method === 'POST' && linkPath.test(bare) ? 'read' : 'change'
}

/** Whether pages of other origins may use it, with a key that anybody can read there. */
export function isForPages(permission: Permission): boolean {
  return permission === 'search' || permission === 'read' || permission === 'readKnowledge'
}

/** Finds the surface of a request from its method and path. */
export function surfaces({ protocols, docsHeaders }: SurfacesOptions): SurfaceOf {
  const open: Surface = {
    keyKind: null,
    permission: null,
    isForPages: false,
    access: null,
    isForSources: false,
    protocol: null,
  }
  const live = (permission: Permission): Surface => ({
    ...open,
    keyKind: 'live',
    permission,
    isForPages: isForPages(permission),
  })
  const ofPermission: Record<Permission, Surface> = {
    search: live('search'),
    read: live('read'),
    readKnowledge: live('readKnowledge'),
    changeKnowledge: live('changeKnowledge'),
    change: live('change'),
    manage: live('manage'),
  }
  const agents: Surface = { ...ofPermission.search, isForPages: false }
  const ingest: Surface = { ...open, keyKind: 'ingest' }
  const sources: Surface = { ...open, isForSources: true }
  const ofProtocol = ({ keyKind }: Protocol) =>
    keyKind === undefined ? agents : keyKind === null ? sources : ingest
  const keyed: readonly { prefix: string; surface: Surface }[] = [
    // Platforms sign what they send: see src/sources.
    { prefix: '/ingest/from', surface: sources },
    ...protocols.map((protocol) => ({
      prefix: protocol.prefix,
      surface: { ...ofProtocol(protocol), protocol },
    })),
    { prefix: '/ingest', surface: ingest },
    { prefix: '/integrations', surface: agents },
    { prefix: '/mcp', surface: agents },
  ]
  const docs: Surface = { ...open, headers: docsHeaders }
  return (method, path) => {
    if (isUnder(path, '/v1')) return ofPermission[permissionFor(method, path)]
    const match = keyed.find(({ prefix }) => isUnder(path, prefix))
    if (match) return match.surface
    if (path === '/docs' || path === '/docs/') return docs
    const access = consoleAccess(method, path)
    return access ? { ...open, access } : open
  }
}

/** The most bytes that a request's body may have; a larger one is 413. */
export type BodyLimit = (path: string) => number

/** What a form has beside its file, and LiveKit's upload beside its recording. */
const [formBytes, reportBytes] = [65_536, 33_554_432]

/** @param bytesMax the limit of every body but a recording */
export function bodyLimit({
  bytesMax,
  recordingBytesMax,
}: Record<'bytesMax' | 'recordingBytesMax', number>): BodyLimit {
  const formBytesMax = limits.file.most + formBytes
  // The first prefix that fits counts. A project's part of the console has the limits of /v1.
  const ofPrefix = [
    ['/v1/knowledge/search', limits.searchBody.most],
    ['/v1/knowledge/files', formBytesMax],
    ['/v1/knowledge/read', formBytesMax],
    ['/v1/knowledge', bytesMax],
    ['/ingest', bytesMax],
    ['/observability', bytesMax],
    ['/integrations', limits.agentBody.most],
    // Enough for a password.
    ['/console/api/session', limits.signInBody.most],
    ['/console/api/links', limits.signInBody.most],
  ] as const
  return (path) => {
    if (uploadPath.test(path)) return recordingBytesMax
    // A form whose recording is read as it arrives, beside a history.
    if (isUnder(path, '/observability/recordings')) return recordingBytesMax + reportBytes
    const bare = path.replace(/^\/console\/api\/projects\/[^/]+/, '/v1')
    const [, ofPath = limits.otherBody.most] = ofPrefix.find(([prefix]) => isUnder(bare, prefix)) ?? []
    return Math.min(ofPath, bytesMax)
  }
}

function isUnder(path: string, prefix: string): boolean {
  return path.startsWith(prefix) && (path.length === prefix.length || path[prefix.length] === '/')
}
