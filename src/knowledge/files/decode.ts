import { unreadable } from './file-text.ts'

/**
 * How far into a page its charset may be declared.
 * https://html.spec.whatwg.org/multipage/parsing.html#determining-the-character-encoding
 */
const charsetWithinBytes = 1_024

/** The text of a file that is stored unchanged, which must be UTF-8. @throws FileRefusal */
export function decodeText(bytes: Uint8Array): string {
  const text = decodeUtf8(bytes, true)
  if (text === null) throw unreadable('The file is not valid UTF-8. Save it as UTF-8 and send it again.')
  return text
}

/** The text of a file to convert: UTF-8, UTF-16 with a byte order mark, the declared charset, or else Windows-1252. */
export function decodeAny(bytes: Uint8Array, namesCharset = false): string {
  const [first, second] = bytes
  if (first === 0xff && second === 0xfe) return new TextDecoder('utf-16le').decode(bytes)
  if (first === 0xfe && second === 0xff) return new TextDecoder('utf-16be').decode(bytes)
  const text = decodeUtf8(bytes, false)
  if (text !== null) return text
  const head = new TextDecoder('latin1').decode(bytes.subarray(0, charsetWithinBytes))
  const charset = namesCharset ? /charset\s*=\s*["']?([\w-]+)/i.exec(head)?.[1] : undefined
  return decoderOf(charset ?? 'windows-1252').decode(bytes)
}

function decodeUtf8(bytes: Uint8Array, ignoreBOM: boolean): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM }).decode(bytes)
  } catch {
    // Not UTF-8. The caller tries other encodings.
    return null
  }
}

function decoderOf(charset: string): TextDecoder {
  try {
    return new TextDecoder(charset)
  } catch {
    // The declared charset is unknown.
    return new TextDecoder('windows-1252')
  }
}
