import type { Work } from '../threads/time-slices.ts'

const charsAtOnceMax = 16_384
/** Digits of other scripts, full-width characters, tabs and spaces of other widths. */
const unusual = /[\uff01-\uff5e\t\u2000-\u200a\u202f\u205f\u3000]|(?![0-9\ud800-\udfff])\p{Nd}/gu
const fullWidthOffset = 0xfee0

/** The text in ASCII where an equivalent exists, such as `4` for `４` and `٤`. Its length stays the same. */
export function* withPlainCharacters(text: string): Work<string> {
  const parts: string[] = []
  for (let at = 0; at < text.length; at += charsAtOnceMax) {
    yield
    parts.push(text.slice(at, at + charsAtOnceMax).replace(unusual, plain))
  }
  return parts.join('')
}

function plain(char: string): string {
  const code = char.charCodeAt(0)
  if (char.length > 1) return char
  if (code >= 0xff01 && code <= 0xff5e) return String.fromCharCode(code - fullWidthOffset)
  if (!/\p{Nd}/u.test(char)) return ' '
  // In Unicode, the zero of each script has a code that ends in hexadecimal 0 or 6.
  const zero = /\p{Nd}/u.test(String.fromCharCode(code & ~15)) ? 0 : 6
  return String((code & 15) - zero)
}
