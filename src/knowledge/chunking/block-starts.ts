// What a line begins or ends by CommonMark 0.31 (https://spec.commonmark.org/0.31.2/), seen from `first`, its
// first character behind the indentation, to `end`. Loops, because they are linear and take nothing from the
// heap: as regular expressions the same took seconds for one line of 1 MiB of dashes and blanks.

/** 1 to 6 for `#` to `######`, 0 for anything else. */
export function headingLevel(text: string, first: number, end: number): number {
  const level = runLength(text, first, Math.min(end, first + 7), HASH)
  return level <= 6 && endsWord(text, first + level, end) ? level : 0
}

/** 1 for `===`, 2 for `---` below a paragraph, 0 for anything else. */
export function underlineLevel(text: string, first: number, end: number): number {
  const mark = text.charCodeAt(first)
  if (mark !== EQUALS && mark !== DASH) return 0
  const markEnd = first + runLength(text, first, end, mark)
  if (afterBlanks(text, markEnd, end) < end) return 0
  return mark === EQUALS ? 1 : 2
}

export interface Fence {
  mark: number
  length: number
}

export function fenceOf(text: string, first: number, end: number): Fence | null {
  const mark = text.charCodeAt(first)
  const length = runLength(text, first, end, mark)
  if (length < 3) return null
  if (mark === BACKTICK && text.slice(first + length, end).includes('`')) return null
  return { mark, length }
}

export function closesFence(text: string, first: number, end: number, { mark, length }: Fence): boolean {
  const run = runLength(text, first, end, mark)
  return run >= length && afterBlanks(text, first + run, end) === end
}

/** Whether the last thing quoted is a paragraph, which the next line may lazily continue. */
export function quotesParagraph(text: string, first: number, end: number): boolean {
  let at = first
  while (at < end && (text.charCodeAt(at) === GREATER || isBlank(text, at))) at++
  return at < end && !/^(?:#{1,6}(?:[ \t]|$)|```|~~~)/.test(text.slice(at, Math.min(end, at + 8)))
}

export function isThematicBreak(text: string, first: number, end: number): boolean {
  const mark = text.charCodeAt(first)
  if (mark !== DASH && mark !== STAR && mark !== UNDERSCORE) return false
  let count = 0
  for (let at = first; at < end; at++) {
    if (text.charCodeAt(at) === mark) count++
    else if (!isBlank(text, at)) return false
  }
  return count >= 3
}

export interface ListMarker {
  /** Column at which the item's content starts. */
  content: number
  /** Offset and column of the first character behind the marker. */
  first: number
  indent: number
  /** Whether it may follow a paragraph's line: it has content, and a number is 1. */
  interrupts: boolean
}

/** The list marker of a line whose `first` is at column `indent`. */
export function listMarkerOf(text: string, first: number, end: number, indent: number): ListMarker | null {
  const markEnd = listMarkEnd(text, first, end)
  if (markEnd === null || !endsWord(text, markEnd, end)) return null
  const markColumn = indent + markEnd - first
  const content = columnAfterBlanks(text, markEnd, end, markColumn)
  const isEmpty = content.first === end
  const isFirst = markEnd === first + 1 || Number(text.slice(first, markEnd - 1)) === 1
  return {
    // More than four columns behind the marker is indented code, and the content starts one column behind.
    content: isEmpty || content.indent - markColumn > 4 ? markColumn + 1 : content.indent,
    first: content.first,
    indent: content.indent,
    interrupts: !isEmpty && isFirst,
  }
}

/** Behind a bullet, or up to nine digits with a full stop or a parenthesis. */
function listMarkEnd(text: string, first: number, end: number): number | null {
  const bullet = text.charCodeAt(first)
  if (bullet === DASH || bullet === STAR || bullet === PLUS) return first + 1
  let at = first
  while (at < end && at - first < 9 && isDigit(text.charCodeAt(at))) at++
  if (at === first || at === end) return null
  const stop = text.charCodeAt(at)
  return stop === DOT || stop === PARENTHESIS ? at + 1 : null
}

/** The first offset from `start`, which is at `column`, that holds no blank, and its column: tabs stop at fours. */
export function columnAfterBlanks(text: string, start: number, end: number, column: number) {
  let first = start
  let indent = column
  for (; first < end; first++) {
    const code = text.charCodeAt(first)
    if (code === TAB) indent += 4 - (indent % 4)
    else if (code === SPACE) indent++
    else break
  }
  return { first, indent }
}

function runLength(text: string, first: number, end: number, mark: number): number {
  let at = first
  while (at < end && text.charCodeAt(at) === mark) at++
  return at - first
}

function afterBlanks(text: string, first: number, end: number): number {
  let at = first
  while (at < end && isBlank(text, at)) at++
  return at
}

function endsWord(text: string, at: number, end: number): boolean {
  return at === end || isBlank(text, at)
}

function isBlank(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  return code === SPACE || code === TAB
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39
}

const HASH = 0x23
const GREATER = 0x3e
const BACKTICK = 0x60
const TAB = 0x09
const SPACE = 0x20
const PARENTHESIS = 0x29
const STAR = 0x2a
const PLUS = 0x2b
const DASH = 0x2d
const DOT = 0x2e
const EQUALS = 0x3d
const UNDERSCORE = 0x5f
