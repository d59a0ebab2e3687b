/** A database on a libSQL server: Turso, or one of one's own. */
export interface RemoteLocation {
  readonly kind: 'remote'
  /** `libsql://…`, `http://…` or `https://…`. */
  readonly url: string
  readonly authToken: string | null
}

export interface FileLocation {
  readonly kind: 'file'
  /** Absolute path. */
  readonly file: string
}

/** A local copy that follows a primary: read here, written there. */
export interface ReplicaLocation {
  readonly kind: 'replica'
  readonly file: string
  readonly primary: RemoteLocation
  readonly syncIntervalMs: number
}

export type DatabaseLocation = FileLocation | RemoteLocation | ReplicaLocation

/** Where rows are read: what a worker needs to open a reader of its own. */
export type ReadLocation = FileLocation | RemoteLocation

export function toReadLocation(location: DatabaseLocation): ReadLocation {
  return location.kind === 'replica' ? { kind: 'file', file: location.file } : location
}

/** As libSQL's client takes a path, which may hold what means something else in a URL. */
export function fileUrl(path: string): string {
  return `file:${path.replace(/[%?#]/g, encodeURIComponent)}`
}

/** The address that requests go to: `libsql:` is HTTPS, unless it says `tls=0`. */
export function httpUrl(url: string): string {
  const { protocol, host, pathname, searchParams } = new URL(url)
  const isPlain = protocol === 'http:' || (protocol === 'libsql:' && searchParams.get('tls') === '0')
  return `${isPlain ? 'http' : 'https'}://${host}${pathname.replace(/\/+$/, '')}`
}
