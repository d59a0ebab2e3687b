import { inflateRawSync } from 'node:zlib'
import { unreadable } from './file-text.ts'

const expandedBytesMax = 64 * 1_048_576
const endSignature = 0x06054b50
const entrySignature = 0x02014b50
const endBytes = 22
const entryBytes = 46
const localEntryBytes = 30
const commentBytesMax = 65_535
const stored = 0

/**
 * Checks that an archive is complete and not too large when expanded. Libraries trust the sizes that it declares.
 * https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT
 * @returns the text of one entry; null if the archive has no entry of this name
 * @throws FileRefusal, or a RangeError for an offset beyond the end
 */
export function checkArchive(bytes: Uint8Array, wanted: string): string | null {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const end = findEnd(view)
  const entries = view.getUint16(end + 10, true)
  let at = view.getUint32(end + 16, true)
  let expandedBytes = 0
  let text: string | null = null
  for (let entry = 0; entry < entries; entry++) {
    if (view.getUint32(at, true) !== entrySignature) throw damaged()
    const nameBytes = view.getUint16(at + 28, true)
    const name = new TextDecoder().decode(bytes.subarray(at + entryBytes, at + entryBytes + nameBytes))
    const content = expand(bytes, view, at, expandedBytesMax - expandedBytes)
    expandedBytes += content.byteLength
    if (name === wanted) text = new TextDecoder().decode(content)
    at += entryBytes + nameBytes + view.getUint16(at + 30, true) + view.getUint16(at + 32, true)
  }
  return text
}

function expand(bytes: Uint8Array, view: DataView, at: number, bytesMax: number): Uint8Array {
  const isEncrypted = view.getUint16(at + 8, true) & 1
  if (isEncrypted) throw unreadable('The file is password-protected.')
  const local = view.getUint32(at + 42, true)
  const nameBytes = view.getUint16(local + 26, true)
  const start = local + localEntryBytes + nameBytes + view.getUint16(local + 28, true)
  const content = bytes.subarray(start, start + view.getUint32(at + 20, true))
  const isStored = view.getUint16(at + 10, true) === stored
  if (isStored && content.byteLength > bytesMax) throw tooLarge()
  return isStored ? content : inflate(content, bytesMax)
}

function inflate(content: Uint8Array, bytesMax: number): Uint8Array {
  try {
    return inflateRawSync(content, { maxOutputLength: Math.max(1, bytesMax) })
  } catch (error) {
    throw (error as { code?: string }).code === 'ERR_BUFFER_TOO_LARGE' ? tooLarge() : damaged()
  }
}

function findEnd(view: DataView): number {
  const last = view.byteLength - endBytes
  for (let at = last; at >= Math.max(0, last - commentBytesMax); at--) {
    if (view.getUint32(at, true) === endSignature) return at
  }
  throw damaged()
}

function tooLarge() {
  return unreadable(`The file expands to more than ${expandedBytesMax} bytes.`)
}

function damaged() {
  return unreadable('The file is damaged or incomplete.')
}
