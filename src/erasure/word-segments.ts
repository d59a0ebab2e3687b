/** Follows the cookie of a structure record whose segments have origins, as with `contentless_delete`. */
const originsMark = 0xff000001
const cookieBytes = 4
const varintBytesMax = 9

/**
 * Names of a keyword index's segments. FTS5 reuses their numbers, so a name also says which writes a segment came from.
 * @param structure FTS5's structure record: see SQLite's `fts5_index.c`
 */
export function segmentNames(structure: Uint8Array): string[] {
  const bytes = Buffer.from(structure)
  if (bytes.length < 2 * cookieBytes || bytes.readUInt32BE(cookieBytes) !== originsMark) {
    throw new Error('The keyword index has a format that this version cannot read')
  }
  const numbers = varints(bytes.subarray(2 * cookieBytes))
  const next = () => Number(numbers.next().value ?? 0)
  const names: string[] = []
  const [levels, _segments, _writes] = [next(), next(), next()]
  for (let level = 0; level < levels; level++) {
    const [_merging, segments] = [next(), next()]
    for (let segment = 0; segment < segments; segment++) {
      const [number, _first, _last, firstOrigin, lastOrigin] = [next(), next(), next(), next(), next()]
      const [_tombstonePages, _tombstones, _entries] = [next(), next(), next()]
      names.push(`${number}:${firstOrigin}-${lastOrigin}`)
    }
  }
  return names
}

/** SQLite's variable-length integers: seven bits a byte, highest first, and all eight of a ninth. */
function* varints(bytes: Uint8Array): Generator<bigint> {
  let value = 0n
  let length = 0
  for (const byte of bytes) {
    length++
    const isLast = length === varintBytesMax
    value = isLast ? (value << 8n) | BigInt(byte) : (value << 7n) | BigInt(byte & 0x7f)
    if (!isLast && byte >= 0x80) continue
    yield value
    value = 0n
    length = 0
  }
}
