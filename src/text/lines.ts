const newline = 0x0a

export interface Line {
  /** 1 for the first. */
  number: number
  /** The line without its ending; null if it is longer than the limit. */
  bytes: Buffer | null
  /** Bytes of the source up to the line's end. */
  end: number
  /** Whether no further whole line has arrived yet. */
  isLastArrived: boolean
}

/** The lines of a stream of bytes. Only one line is in memory at a time. */
export async function* readLines(source: AsyncIterable<Uint8Array>, bytesMax: number): AsyncGenerator<Line> {
  let parts: Buffer[] = []
  let size = 0
  let number = 0
  let read = 0
  const take = (part: Buffer) => {
    size += part.length
    if (size > bytesMax) parts = []
    else if (part.length > 0) parts.push(part)
  }
  const finish = (end: number, isLastArrived: boolean): Line => {
    const only = parts.length === 1 ? parts[0] : undefined
    const bytes = size > bytesMax ? null : (only ?? Buffer.concat(parts))
    const line = { number: ++number, bytes, end, isLastArrived }
    parts = []
    size = 0
    return line
  }
  for await (const piece of source) {
    const bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength)
    let from = 0
    for (let at = bytes.indexOf(newline); at >= 0; ) {
      take(bytes.subarray(from, at))
      from = at + 1
      at = bytes.indexOf(newline, from)
      yield finish(read + from, at < 0)
    }
    take(bytes.subarray(from))
    read += bytes.length
  }
  if (size > 0) yield finish(read, true)
}

/** Whether a line holds nothing but white space of JSON. */
export function isBlank(bytes: Uint8Array): boolean {
  return bytes.every((byte) => byte === 0x20 || byte === 0x09 || byte === 0x0d)
}

const lineEnd = /[\u0085\u2028\u2029]/g
const lineEndBytes = ['\u0085', '\u2028', '\u2029'].map((character) => Buffer.from(character))

/** JSON with the characters escaped that many programs take for the end of a line, though JSON allows them in a text. */
export function escapeLineEnds<Json extends string | Uint8Array<ArrayBuffer>>(json: Json): Json | string {
  if (typeof json !== 'string') {
    // Nearly always there are none, and looking takes no copy.
    const bytes = Buffer.from(json.buffer, json.byteOffset, json.byteLength)
    if (!lineEndBytes.some((each) => bytes.includes(each))) return json
    return escapeLineEnds(bytes.toString())
  }
  return json.replace(lineEnd, (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
