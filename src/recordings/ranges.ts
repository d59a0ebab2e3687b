/** Bytes from `start` to `end`, exclusive. */
export interface ByteRange {
  start: number
  end: number
}

/**
 * The one range that a request asks for (RFC 9110, 14.2): null for the whole, also for several ranges and for what is no
 * range of bytes; `unsatisfiable` if it begins after the end.
 */
export function rangeOf(
  { headers }: Request,
  bytes: number,
  tag: string,
): ByteRange | null | 'unsatisfiable' {
  const range = headers.get('range')
  // With `If-Range`, a range is meant only of this very recording.
  if (range === null || (headers.get('if-range') ?? tag) !== tag) return null
  const [, first = '', last = ''] = /^bytes=\s*(\d{0,15})-(\d{0,15})\s*$/i.exec(range) ?? []
  if (first === '' && last === '') return null
  if (first === '') {
    const length = Math.min(Number(last), bytes)
    return length === 0 ? 'unsatisfiable' : { start: bytes - length, end: bytes }
  }
  const start = Number(first)
  if (last !== '' && Number(last) < start) return null
  if (start >= bytes) return 'unsatisfiable'
  return { start, end: last === '' ? bytes : Math.min(Number(last) + 1, bytes) }
}
