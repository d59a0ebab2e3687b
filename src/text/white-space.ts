const TAB = 0x09
const LF = 0x0a
const CR = 0x0d
const SPACE = 0x20

/** Whether `\s` matches the code unit. */
export function isSpace(code: number): boolean {
  if (code <= SPACE) return code === SPACE || (code >= TAB && code <= CR)
  if (code < 0x1680) return code === 0xa0
  if (code >= 0x2000 && code <= 0x200a) return true
  return [0x1680, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000, 0xfeff].includes(code)
}

export function isLineEnd(code: number): boolean {
  return code === LF || code === CR
}

/** Whether `at` is between the two characters of a line ending. */
export function isInsideLineEnd(text: string, at: number): boolean {
  return text.charCodeAt(at) === LF && text.charCodeAt(at - 1) === CR
}

/** The offset of the first character from `from` that is not white space, at most `end`. */
export function skipSpace(text: string, from: number, end: number): number {
  let at = from
  while (at < end && isSpace(text.charCodeAt(at))) at++
  return at
}
