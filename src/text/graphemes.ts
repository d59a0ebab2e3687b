/** The last offset after `from`, at most `at`, where a grapheme starts; never one inside a surrogate pair. */
export function graphemeStart(text: string, from: number, at: number): number {
  if (at >= text.length || isPlainStart(text, at)) return at
  const near = Math.max(from, at - graphemeCharsMax)
  // A flag is a pair of regional indicators. Which two form a pair is known only from the start of their run.
  const windowStart = isRegionalIndicator(text, near) ? from : near
  const segments = segmenter.segment(text.slice(windowStart, at + graphemeCharsMax))
  const start = windowStart + (segments.containing(at - windowStart)?.index ?? 0)
  if (start > windowStart) return start
  return (text.codePointAt(at - 1) ?? 0) > 0xffff ? at - 1 : at
}

/** Whether the character at `at` would combine with the white space or full stop before it. */
export function joinsBefore(text: string, at: number): boolean {
  if (text.charCodeAt(at) < combiningMin) return false
  const extender = /^(?:\p{M}|\p{Emoji_Modifier}|\p{Join_Control}|[\uff9e\uff9f]|[\u{e0020}-\u{e007f}])/u
  return extender.test(text.slice(at, at + 2))
}

const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' })
/** Longer graphemes occur in no real text, and are cut. */
const graphemeCharsMax = 64
/** Below this code nothing combines, except the two characters of a line ending. */
const combiningMin = 0x300

function isPlainStart(text: string, at: number): boolean {
  if (text.charCodeAt(at) >= combiningMin || text.charCodeAt(at - 1) >= combiningMin) return false
  return !(text[at] === '\n' && text[at - 1] === '\r')
}

/** True at either of its two code units. */
function isRegionalIndicator(text: string, at: number): boolean {
  return /\p{Regional_Indicator}/u.test(text.slice(Math.max(0, at - 1), at + 2))
}
