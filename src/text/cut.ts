/** Follows what is left of a text that was cut. */
export const cutMark = ' … [cut]'
/** Of UTF-8, for a code unit. */
const bytesPerUnitMax = 3

/** The text, cut to at most so many characters. */
export function cutToChars(text: string, charsMax: number): string {
  return text.length <= charsMax ? text : text.slice(0, charsMax - cutMark.length).toWellFormed() + cutMark
}

/** The text, cut to at most so many bytes of UTF-8. */
export function cutToBytes(text: string, bytesMax: number): string {
  if (text.length * bytesPerUnitMax <= bytesMax || Buffer.byteLength(text) <= bytesMax) return text
  const bytes = Buffer.from(text.slice(0, bytesMax)).subarray(0, bytesMax - Buffer.byteLength(cutMark))
  // As one of several parts, so that a character that was cut in two is left out.
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes, { stream: true }) + cutMark
}
