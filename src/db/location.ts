/** A database on a libSQL server: Turso's or your own. */
export interface RemoteLocation {
  readonly kind: 'remote'
  /** `libsql://…`, `http://…` or `https://…`. */
  readonly url: string
  readonly authToken: string | null
}

export interface FileLocation {
  readonly kind: 'file'
  /** An absolute path. */
  readonly file: string
}

/** A local copy of a primary: reads are local, writes go to the primary. */
export interface ReplicaLocation {
  readonly kind: 'replica'
  readonly file: string
  readonly primary: RemoteLocation
  readonly syncIntervalMs: number
}

export type DatabaseLocation = FileLocation | RemoteLocation | ReplicaLocation

/** What a worker needs to open its own reader. */
export type ReadLocation = FileLocation | RemoteLocation

/** A path as libSQL's client takes it, with the characters escaped that mean something in a URL. */
export function fileUrl(path: string): string {
  return `file:${path.replace(/[%?#]/g, encodeURIComponent)}`
}

/** The address that requests go to: `libsql:` is HTTPS, unless it says `tls=0`. */
export function httpUrl(url: string): string {
  const { protocol, host, pathname, searchParams } = new URL(url)
  const isPlain = protocol === 'http:' || (protocol === 'libsql:' && searchParams.get('tls') === '0')
  return `${isPlain ? 'http' : 'https'}://${host}${pathname.replace(/\/+$/, '')}`
}
