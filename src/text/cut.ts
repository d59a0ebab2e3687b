/** Follows what is left of a text that was cut. */
export const cutMark = ' … [cut]'
/** The most bytes that UTF-8 takes for a code unit. */
const bytesPerUnitMax = 3
const markBytes = Buffer.byteLength(cutMark)
/** The most bytes that JSON takes for a byte of UTF-8. */
const escapedBytesMax = 6
const quotesBytes = 2

/** The text, cut to at most so many characters. */
export function cutToChars(text: string, charsMax: number): string {
  return text.length <= charsMax ? text : text.slice(0, charsMax - cutMark.length).toWellFormed() + cutMark
}

/** The text, cut to at most so many bytes of UTF-8. */
export function cutToBytes(text: string, bytesMax: number): string {
  if (text.length * bytesPerUnitMax <= bytesMax || Buffer.byteLength(text) <= bytesMax) return text
  const room = Math.max(0, bytesMax - markBytes)
  const bytes = Buffer.from(text.slice(0, room)).subarray(0, room)
  // As one of several parts, so that a character that was cut in two is left out.
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes, { stream: true }) + cutMark
}

/** Cuts the text so that its JSON has at most `bytesMax` bytes, or is the mark alone. */
export function cutToJson(text: string, bytesMax: number): string {
  const cut = cutToBytes(text, bytesMax - quotesBytes)
  return jsonBytes(cut) <= bytesMax ? cut : cutToBytes(text, (bytesMax - quotesBytes) / escapedBytesMax)
}

/** The size of a value as JSON. */
export function jsonBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value))
}
