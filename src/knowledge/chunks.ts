import MarkdownIt from 'markdown-it'

/** One piece of a knowledge item's text: what is embedded, searched and answered with. */
export interface Chunk {
  position: number
  /** Titles of the section the chunk starts in and of those above it, joined by ` › `. */
  heading: string | null
  text: string
  /** How many leading characters of `text` repeat the end of the chunk before. */
  overlapChars: number
}

/** To be raised by whoever changes what chunk or embedded text comes out; part of every embedding space. */
export const chunkerVersion = 1

/** No chunk is longer, its overlap included. In UTF-16 code units, as all sizes here. */
export const chunkCharsMax = 1_600
/** Sections that do not fit are cut into pieces of about this size. */
export const chunkCharsTarget = 1_200
/** Smaller chunks are merged with a neighbour under the same parent heading. */
export const chunkCharsMin = 200
/** How much of the piece before is repeated, at most. */
export const chunkOverlapCharsMax = 120

const pieceCharsMax = chunkCharsMax - chunkOverlapCharsMax
const titleCharsMax = 120
const titleSourceCharsMax = 400
/** More marks than a title ever has; inline parsing is quadratic in them. */
const titleMarksMax = 40
const headingSeparator = ' › '

/**
 * Splits a Markdown or plain text at its headings, and what is then still too long at paragraphs, lines,
 * sentences, words. Nothing is lost: the chunks without their overlaps, joined, are the text. Linear in time
 * whatever the text. A chunk is white space only where the text has nothing else for a chunk's whole length.
 */
export function splitIntoChunks(text: string): Chunk[] {
  const sections = findSections(text)
  const pieces = sections.flatMap((section) => piecesOf(text, section))
  const titleOf = createTitleReader(text)
  return mergeTiny(pieces).map((piece, position) => ({
    position,
    heading: headingPath(piece.section, titleOf),
    text: text.slice(piece.start - piece.overlapChars, piece.end),
    overlapChars: piece.overlapChars,
  }))
}

/** What is embedded for a chunk: the item's name and the heading path on a line of their own, then the text. */
export function embeddedText(itemName: string, chunk: { heading: string | null; text: string }): string {
  return `${contextLine(itemName.trim(), chunk.heading)}\n${chunk.text}`
}

function contextLine(name: string, heading: string | null): string {
  if (heading === null) return name
  const first = heading.split(headingSeparator, 1)[0] ?? ''
  const repeats = name === '' || fold(first) === fold(name) || fold(heading) === fold(name)
  return repeats ? heading : name + headingSeparator + heading
}

function fold(text: string): string {
  return text.normalize('NFKC').toLowerCase()
}

interface Section {
  start: number
  end: number
  heading: Heading | null
  parent: Section | null
}

interface Piece {
  /** Where the piece's own text starts; its overlap lies before. */
  start: number
  end: number
  overlapChars: number
  section: Section
}

function findSections(text: string): Section[] {
  const headings = findHeadings(text)
  const sections: Section[] = []
  let open: Section | null = null
  const firstStart = headings[0]?.start ?? text.length
  if (text.slice(0, firstStart).trim() !== '') {
    sections.push({ start: 0, end: firstStart, heading: null, parent: null })
  }
  for (const [index, heading] of headings.entries()) {
    while (open?.heading && open.heading.level >= heading.level) open = open.parent
    const end = headings[index + 1]?.start ?? text.length
    // White space before the first heading belongs to it: on its own it would be an empty chunk.
    const start = sections.length === 0 ? 0 : heading.start
    open = { start, end, heading, parent: open }
    sections.push(open)
  }
  if (sections.length === 0 && text !== '') {
    sections.push({ start: 0, end: text.length, heading: null, parent: null })
  }
  return sections
}

function piecesOf(text: string, section: Section): Piece[] {
  const { start, end } = section
  if (end - start <= chunkCharsMax) return [{ start, end, overlapChars: 0, section }]
  const cuts = [start]
  let from = start
  while (end - from > pieceCharsMax) {
    from = findCut(text, from, end)
    cuts.push(from)
  }
  keepTailVisible(text, cuts, end)
  return cuts.map((pieceStart, index) => ({
    start: pieceStart,
    end: cuts[index + 1] ?? end,
    overlapChars: index === 0 ? 0 : overlapBefore(text, cuts[index - 1] ?? start, pieceStart),
    section,
  }))
}

/** The best place to end a piece that starts at `from`: the rest is shared out evenly, then boundaries decide. */
function findCut(text: string, from: number, end: number): number {
  const limit = from + pieceCharsMax
  const piecesLeft = Math.ceil((end - from) / chunkCharsTarget)
  const ideal = from + Math.round((end - from) / piecesLeft)
  const visible = skipSpace(text, from, limit)
  // A piece of white space only is not worth having: look for a cut behind the first word.
  const low = Math.max(from + Math.floor((ideal - from) * 0.6), Math.min(visible + 1, limit))
  const high = Math.max(low, Math.min(limit, from + Math.floor((ideal - from) * 1.25)))
  const cut = nearestBoundary(text, low, high, ideal) ?? graphemeStart(text, from, high)
  return afterSpace(text, from, cut, limit)
}

/** Kinds of cuts, better ones higher. */
const boundary = { none: 0, word: 1, sentence: 2, line: 3, paragraph: 4 } as const

function nearestBoundary(text: string, low: number, high: number, ideal: number): number | null {
  let best: number | null = null
  let bestRank: number = boundary.none
  for (let at = low; at <= high; at++) {
    const rank = boundaryAt(text, at)
    if (rank === boundary.none || rank < bestRank || joinsBefore(text, at)) continue
    if (rank === bestRank && best !== null && Math.abs(at - ideal) >= Math.abs(best - ideal)) continue
    best = at
    bestRank = rank
  }
  return best
}

/** What kind of unit ends right before `at`; a boundary lies behind the white space that ends the unit. */
function boundaryAt(text: string, at: number): number {
  const before = text.charCodeAt(at - 1)
  if (!isSpace(before)) return isWideStop(before) ? boundary.sentence : boundary.none
  if (isSpace(text.charCodeAt(at)) && !isLineEnd(before)) return boundary.none
  if (before === CR && text.charCodeAt(at) === LF) return boundary.none
  if (isLineEnd(before)) {
    const lineEnd = before === LF && text.charCodeAt(at - 2) === CR ? at - 2 : at - 1
    return isLineEnd(text.charCodeAt(lineEnd - 1)) ? boundary.paragraph : boundary.line
  }
  return isStop(text.charCodeAt(at - 2)) ? boundary.sentence : boundary.word
}

/** White space at a cut goes to the piece before, as far as it fits, so that pieces begin with a word. */
function afterSpace(text: string, from: number, cut: number, limit: number): number {
  const behind = skipSpace(text, cut, limit)
  // The next line's indentation means something in Markdown and stays with its line.
  let lineStart = behind
  while (lineStart > cut && !isLineEnd(text.charCodeAt(lineStart - 1))) lineStart--
  return lineStart > cut && behind < limit ? lineStart : graphemeStart(text, from, behind)
}

/** When only white space is left for the last piece, it gets the last word of the piece before as well. */
function keepTailVisible(text: string, cuts: number[], end: number): void {
  const last = cuts.at(-1)
  const before = cuts.at(-2)
  if (last === undefined || before === undefined || skipSpace(text, last, end) < end) return
  let wordEnd = last
  while (wordEnd > before && isSpace(text.charCodeAt(wordEnd - 1))) wordEnd--
  let wordStart = Math.max(before, wordEnd - 1)
  while (wordStart > before && end - wordStart < pieceCharsMax && !isSpace(text.charCodeAt(wordStart - 1))) {
    wordStart--
  }
  let cut = graphemeStart(text, before, wordStart)
  const fits = end - cut <= pieceCharsMax && skipSpace(text, before, cut) < cut
  // A word that is too long to move, or all that the piece before has, is divided.
  if (!fits) cut = graphemeStart(text, before, wordEnd - 1)
  if (end - cut <= pieceCharsMax && skipSpace(text, before, cut) < cut) cuts[cuts.length - 1] = cut
}

function overlapBefore(text: string, from: number, cut: number): number {
  const earliest = Math.max(from, cut - chunkOverlapCharsMax)
  let start = earliest
  while (start < cut && !(isSpace(text.charCodeAt(start - 1)) && !isSpace(text.charCodeAt(start)))) start++
  if (start < cut && !joinsBefore(text, start)) return cut - start
  start = graphemeStart(text, from, earliest)
  if (start < earliest) start = graphemeStart(text, from, Math.min(cut, earliest + 2 * (earliest - start)))
  const overlapChars = cut - start
  return overlapChars > chunkOverlapCharsMax || skipSpace(text, start, cut) === cut ? 0 : overlapChars
}

/** Forward first, so that a bare title goes to the text below it; then what is still tiny, backward. */
function mergeTiny(pieces: Piece[]): Piece[] {
  const forward: Piece[] = []
  for (const piece of pieces) {
    const last = forward.at(-1)
    if (last && charsOf(last) < chunkCharsMin && belongTogether(last, piece)) last.end = piece.end
    else forward.push({ ...piece })
  }
  const merged: Piece[] = []
  for (const piece of forward) {
    const last = merged.at(-1)
    if (last && charsOf(piece) < chunkCharsMin && belongTogether(last, piece)) last.end = piece.end
    else merged.push(piece)
  }
  return merged
}

function belongTogether(piece: Piece, next: Piece): boolean {
  if (charsOf(piece) + next.end - next.start > chunkCharsMax) return false
  if (piece.section === next.section) return true
  const parent = piece.section.parent
  let above = next.section.parent
  while (above && above !== parent) above = above.parent
  return above === parent
}

function charsOf(piece: Piece): number {
  return piece.end - piece.start + piece.overlapChars
}

function headingPath(section: Section, titleOf: (heading: Heading) => string): string | null {
  const titles: string[] = []
  for (let above: Section | null = section; above; above = above.parent) {
    const title = above.heading ? titleOf(above.heading) : ''
    if (title !== '') titles.unshift(title)
  }
  return titles.length === 0 ? null : titles.join(headingSeparator)
}

type InlineParser = Pick<InstanceType<typeof MarkdownIt>, 'parseInline'>

function createTitleReader(text: string): (heading: Heading) => string {
  const markdown = new MarkdownIt('commonmark')
  const titles = new Map<Heading, string>()
  return (heading) => {
    let title = titles.get(heading)
    if (title === undefined) {
      const sourceEnd = Math.min(heading.titleEnd, heading.titleStart + titleSourceCharsMax)
      title = plainTitle(markdown, text.slice(heading.titleStart, sourceEnd))
      titles.set(heading, title)
    }
    return title
  }
}

function plainTitle(markdown: InlineParser, source: string): string {
  // `## Title {#anchor}` is how Docusaurus and others name anchors; nobody reads it.
  const visible = source.replace(/[ \t]#+[ \t]*$/, '').replace(/[ \t]*\{#[^{}]*\}[ \t]*$/, '')
  let title = ''
  const marks = visible.match(/[*_`[\]<!&\\]/g)?.length ?? 0
  if (marks > titleMarksMax) title = visible
  else
    for (const token of markdown.parseInline(visible.trim(), {})[0]?.children ?? []) {
      if (token.type === 'softbreak' || token.type === 'hardbreak') title += ' '
      else if (token.type === 'text' || token.type === 'code_inline' || token.type === 'image')
        title += token.content
      else if (token.type === 'text_special') title += token.content
    }
  title = title.replace(/\s+/g, ' ').trim()
  if (title.length <= titleCharsMax) return title
  return `${title.slice(0, graphemeStart(title, 0, titleCharsMax - 1))}…`
}

/** A heading of the document itself: neither inside a list or quotation nor in code, HTML or front matter. */
export interface Heading {
  level: number
  /** Offset of the heading's first line. */
  start: number
  /** Offsets of the title's Markdown. */
  titleStart: number
  titleEnd: number
}

/**
 * The headings of a Markdown text by CommonMark 0.31, with YAML and TOML front matter left out.
 *
 * A scanner of our own, because it runs on the event loop over texts of 1 MiB: markdown-it 15 with nothing
 * but its block rules took 2.4 s for one quotation with lazy lines and 0.4 s for headings or blank lines only.
 * What it does not follow is the structure inside quotations.
 */
export function findHeadings(text: string): Heading[] {
  const scanner = new HeadingScanner(text)
  return scanner.run()
}

/** An open block whose lines are not Markdown, and how it ends. */
interface RawBlock {
  /** Lines indented less than the list item it is in end it. */
  container: number
  ends: (line: Line) => boolean
  /** Whether a blank line ends it. */
  endsAtBlank: boolean
}

interface Line {
  start: number
  /** Offset of the line ending. */
  end: number
  /** Offset of the first character that is not white space. */
  first: number
  /** Columns before it, tabs counted to stops of four. */
  indent: number
}

const listDepthMax = 32

class HeadingScanner {
  private readonly text: string
  private readonly headings: Heading[] = []
  /** Columns at which the content of each open list item starts; the first `listDepth` of them are open. */
  private readonly lists: number[] = []
  private listDepth = 0
  private raw: RawBlock | null = null
  /** Only a paragraph of the document itself can become a heading. */
  private paragraph: { start: number; first: number } | 'listed' | 'quoted' | null = null
  /** The last line was a list marker and nothing else: a blank line now ends the item. */
  private itemIsEmpty = false

  constructor(text: string) {
    this.text = text
  }

  run(): Heading[] {
    const { text } = this
    let at = text.charCodeAt(0) === 0xfeff ? 1 : 0
    at = frontMatterEnd(text, at)
    let lf = -1
    let cr = -1
    while (at < text.length) {
      if (lf < at) lf = indexOrEnd(text, '\n', at)
      if (cr < at) cr = indexOrEnd(text, '\r', at)
      const end = Math.min(lf, cr)
      this.take(measure(text, at, end))
      at = end === cr && lf === cr + 1 ? end + 2 : end + 1
    }
    return this.headings
  }

  private take(line: Line): void {
    if (line.first === line.end) this.takeBlank()
    else if (!this.takeRaw(line)) this.takeMarkdown(line)
  }

  private takeBlank(): void {
    this.paragraph = null
    if (this.itemIsEmpty) this.listDepth--
    this.itemIsEmpty = false
    if (this.raw?.endsAtBlank) this.raw = null
  }

  private takeRaw(line: Line): boolean {
    const { raw } = this
    if (!raw) return false
    if (line.indent < raw.container) {
      this.raw = null
      return false
    }
    if (raw.ends(line)) this.raw = null
    return true
  }

  private takeMarkdown(line: Line): void {
    const listDepth = this.listDepth
    this.itemIsEmpty = false
    while (line.indent < this.container()) this.listDepth--
    if (this.takeBlocks(line, listDepth)) return
    if (this.paragraph === 'quoted' || this.paragraph === 'listed') {
      // Perhaps a lazy line: the paragraph, and with it the list items around it, go on.
      this.listDepth = Math.max(listDepth, this.listDepth)
    } else if (this.listDepth > 0) this.paragraph = 'listed'
    else this.paragraph ??= { start: line.start, first: line.first }
  }

  /** Takes everything but a paragraph's text; false when the line is that. */
  private takeBlocks(line: Line, listDepthBefore: number): boolean {
    const { text } = this
    let { first, indent } = line
    let continues = this.continuesParagraph(listDepthBefore)
    if (continues && indent - this.container() <= 3 && this.takeUnderline(first, line)) return true
    // Once around for each list marker of the line.
    while (indent - this.container() <= 3) {
      if (this.opensFence(first, line)) return true
      if (text.charCodeAt(first) === GT) {
        this.paragraph = quotesParagraph(text, first, line.end) ? 'quoted' : null
        return true
      }
      if (isThematicBreak(text, first, line.end)) {
        this.paragraph = null
        return true
      }
      const marker = listMarker(text, first, line.end, indent)
      if (!marker || this.listDepth === listDepthMax || (continues && !marker.interrupts)) {
        return this.opensHtml(first, line) || this.takeAtx(first, line)
      }
      this.lists[this.listDepth++] = marker.content
      this.paragraph = null
      continues = false
      this.itemIsEmpty = marker.first === line.end
      if (this.itemIsEmpty) return true
      first = marker.first
      indent = marker.indent
    }
    // Indented code, unless it goes on with a paragraph.
    return this.paragraph === null
  }

  private container(): number {
    return this.listDepth === 0 ? 0 : (this.lists[this.listDepth - 1] ?? 0)
  }

  /** Whether the open paragraph stands in the very container that the line is in. */
  private continuesParagraph(listDepthBefore: number): boolean {
    if (this.paragraph === null || this.paragraph === 'quoted') return false
    return this.listDepth === listDepthBefore
  }

  private takeUnderline(first: number, line: Line): boolean {
    const level = underlineLevel(this.text, first, line.end)
    if (level === 0) return false
    if (this.paragraph && typeof this.paragraph === 'object') {
      const { start, first: titleStart } = this.paragraph
      this.headings.push({ level, start, titleStart, titleEnd: line.start })
    }
    this.paragraph = null
    return true
  }

  private takeAtx(first: number, line: Line): boolean {
    const { text } = this
    let at = first
    while (at < line.end && at - first < 7 && text.charCodeAt(at) === HASH) at++
    const level = at - first
    if (level === 0 || level > 6) return false
    if (at < line.end && !isBlank(text.charCodeAt(at))) return false
    if (this.listDepth === 0)
      this.headings.push({ level, start: line.start, titleStart: at, titleEnd: line.end })
    this.paragraph = null
    return true
  }

  private opensFence(first: number, line: Line): boolean {
    const { text } = this
    const mark = text.charCodeAt(first)
    if (mark !== BACKTICK && mark !== TILDE) return false
    const length = runLength(text, first, line.end, mark)
    if (length < 3) return false
    if (mark === BACKTICK && text.slice(first + length, line.end).includes('`')) return false
    const container = this.container()
    this.raw = {
      container,
      endsAtBlank: false,
      ends: (next) => closesFence(text, next, container, mark, length),
    }
    this.paragraph = null
    return true
  }

  private opensHtml(first: number, line: Line): boolean {
    const { text } = this
    if (text.charCodeAt(first) !== LT) return false
    const start = text.slice(first, Math.min(line.end, first + htmlTagCharsMax))
    const kind = htmlBlocks.find(({ opens }) => opens.test(start))
    if (!kind) return false
    const complete = line.end - first <= htmlTagCharsMax
    if (kind.closes === null && !kind.interrupts && (this.paragraph !== null || !complete)) return false
    const { closes } = kind
    const ends = (next: Line) => closes?.test(text.slice(next.first, next.end)) ?? false
    this.paragraph = null
    if (!ends({ ...line, first }))
      this.raw = { container: this.container(), endsAtBlank: closes === null, ends }
    return true
  }
}

const htmlTagCharsMax = 1_000
const htmlBlockNames =
  'address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details|dialog|dir|div|dl|' +
  'dt|fieldset|figcaption|figure|footer|form|frame|frameset|h[1-6]|head|header|hr|html|iframe|legend|li|link|' +
  'main|menu|menuitem|nav|noframes|ol|optgroup|option|p|param|search|section|summary|table|tbody|td|tfoot|th|' +
  'thead|title|tr|track|ul'
const attribute = '\\s+[a-zA-Z_:][\\w.:-]*(?:\\s*=\\s*(?:[^\\s"\'=<>`]+|\'[^\']*\'|"[^"]*"))?'

/** The seven kinds of HTML blocks, https://spec.commonmark.org/0.31.2/#html-blocks; `closes: null` is a blank line. */
const htmlBlocks: readonly { opens: RegExp; closes: RegExp | null; interrupts: boolean }[] = [
  {
    opens: /^<(?:script|pre|style|textarea)(?=\s|>|$)/i,
    closes: /<\/(?:script|pre|style|textarea)>/i,
    interrupts: true,
  },
  { opens: /^<!--/, closes: /-->/, interrupts: true },
  { opens: /^<\?/, closes: /\?>/, interrupts: true },
  { opens: /^<![A-Za-z]/, closes: />/, interrupts: true },
  { opens: /^<!\[CDATA\[/, closes: /\]\]>/, interrupts: true },
  { opens: new RegExp(`^</?(?:${htmlBlockNames})(?=\\s|/?>|$)`, 'i'), closes: null, interrupts: true },
  {
    opens: new RegExp(
      `^(?:<[a-zA-Z][a-zA-Z0-9-]*(?:${attribute})*\\s*/?>|</[a-zA-Z][a-zA-Z0-9-]*\\s*>)\\s*$`,
    ),
    closes: null,
    interrupts: false,
  },
]

function frontMatterEnd(text: string, at: number): number {
  const fence = text.slice(at, at + 3)
  if (fence !== '---' && fence !== '+++') return at
  const close =
    fence === '---' ? /^(?:---|\.\.\.)[ \t]*(?:\r\n|\r|\n|$)/gm : /^\+\+\+[ \t]*(?:\r\n|\r|\n|$)/gm
  // As Pandoc has it: a blank line behind the first one makes it a thematic break.
  if (!/^[ \t]{0,80}(?:\r\n|\r|\n)[ \t]{0,80}[^\s]/.test(text.slice(at + 3, at + 170))) return at
  close.lastIndex = at + 3
  return close.test(text) ? close.lastIndex : at
}

function indexOrEnd(text: string, search: string, from: number): number {
  const index = text.indexOf(search, from)
  return index === -1 ? text.length : index
}

function measure(text: string, start: number, end: number): Line {
  let first = start
  let indent = 0
  for (; first < end; first++) {
    const code = text.charCodeAt(first)
    if (code === TAB) indent += 4 - (indent % 4)
    else if (code === SPACE) indent++
    else break
  }
  return { start, end, first, indent }
}

function closesFence(text: string, line: Line, container: number, mark: number, length: number): boolean {
  if (line.indent - container > 3) return false
  const run = runLength(text, line.first, line.end, mark)
  return run >= length && isBlankBetween(text, line.first + run, line.end)
}

function runLength(text: string, from: number, end: number, code: number): number {
  let at = from
  while (at < end && text.charCodeAt(at) === code) at++
  return at - from
}

function isBlankBetween(text: string, from: number, end: number): boolean {
  let at = from
  while (at < end && isBlank(text.charCodeAt(at))) at++
  return at === end
}

/** 1 for `===`, 2 for `---`, 0 for anything else. */
function underlineLevel(text: string, first: number, end: number): number {
  const mark = text.charCodeAt(first)
  if (mark !== EQUALS && mark !== DASH) return 0
  if (!isBlankBetween(text, first + runLength(text, first, end, mark), end)) return 0
  return mark === EQUALS ? 1 : 2
}

function isThematicBreak(text: string, first: number, end: number): boolean {
  const mark = text.charCodeAt(first)
  if (mark !== DASH && mark !== STAR && mark !== UNDERSCORE) return false
  let count = 0
  for (let at = first; at < end; at++) {
    const code = text.charCodeAt(at)
    if (code === mark) count++
    else if (!isBlank(code)) return false
  }
  return count >= 3
}

interface ListMarker {
  /** Column at which the item's content starts. */
  content: number
  /** Offset and column of the first character behind the marker. */
  first: number
  indent: number
  /** Whether it may follow a paragraph's line: it has content, and a number is 1. */
  interrupts: boolean
}

function listMarker(text: string, first: number, end: number, indent: number): ListMarker | null {
  let at = first
  const code = text.charCodeAt(at)
  if (code === DASH || code === STAR || code === PLUS) at++
  else {
    while (at < end && at - first < 9 && isDigit(text.charCodeAt(at))) at++
    const stop = text.charCodeAt(at)
    if (at === first || at >= end || (stop !== DOT && stop !== PARENTHESIS)) return null
    at++
  }
  if (at < end && !isBlank(text.charCodeAt(at))) return null
  const afterMarker = indent + (at - first)
  let column = afterMarker
  let content = at
  for (; content < end; content++) {
    const next = text.charCodeAt(content)
    if (next === TAB) column += 4 - (column % 4)
    else if (next === SPACE) column++
    else break
  }
  const empty = content === end
  const isNumber = isDigit(code)
  const starts = !isNumber || Number(text.slice(first, at - 1)) === 1
  // More than four columns behind the marker is indented code, and the content starts one column behind.
  const start = empty || column - afterMarker > 4 ? afterMarker + 1 : column
  return { content: start, first: content, indent: column, interrupts: !empty && starts }
}

/** Whether the last thing quoted is a paragraph, which the next line may lazily continue. */
function quotesParagraph(text: string, first: number, end: number): boolean {
  let at = first
  while (at < end && (isBlank(text.charCodeAt(at)) || text.charCodeAt(at) === GT)) at++
  return at < end && !/^(?:#{1,6}(?:[ \t]|$)|```|~~~)/.test(text.slice(at, Math.min(end, at + 8)))
}

/** The last offset up to `at`, behind `from`, where a grapheme starts; at least never inside a surrogate pair. */
function graphemeStart(text: string, from: number, at: number): number {
  if (at >= text.length || isPlainGraphemeStart(text, at)) return at
  const near = Math.max(from, at - graphemeCharsMax)
  // Flags are pairs of regional indicators: only the start of their run tells which two belong together.
  const windowStart = isRegionalIndicator(text, near) ? from : near
  const segments = new Intl.Segmenter('en', { granularity: 'grapheme' }).segment(
    text.slice(windowStart, at + graphemeCharsMax),
  )
  const start = windowStart + (segments.containing(at - windowStart)?.index ?? 0)
  if (start > windowStart) return start
  return isLowSurrogate(text.charCodeAt(at)) && isHighSurrogate(text.charCodeAt(at - 1)) ? at - 1 : at
}

const graphemeCharsMax = 64

/** U+1F1E6 to U+1F1FF, seen from either of its two code units. */
function isRegionalIndicator(text: string, at: number): boolean {
  const code = text.codePointAt(isLowSurrogate(text.charCodeAt(at)) ? at - 1 : at) ?? 0
  return code >= 0x1f1e6 && code <= 0x1f1ff
}

/** Whether what stands at `at` would combine with the white space or full stop before. */
function joinsBefore(text: string, at: number): boolean {
  if (text.charCodeAt(at) < 0x300) return false
  const extender = /^(?:\p{M}|\p{Emoji_Modifier}|\p{Join_Control}|[\uff9e\uff9f]|[\u{e0020}-\u{e007f}])/u
  return extender.test(text.slice(at, at + 2))
}

/** Below U+0300 nothing combines, apart from the two characters of a line ending. */
function isPlainGraphemeStart(text: string, at: number): boolean {
  const before = text.charCodeAt(at - 1)
  const code = text.charCodeAt(at)
  return !(before >= 0x300) && !(code >= 0x300) && !(before === CR && code === LF)
}

/** The first offset up to `end` that holds no white space. */
function skipSpace(text: string, from: number, end: number): number {
  let at = from
  while (at < end && isSpace(text.charCodeAt(at))) at++
  return at
}

const TAB = 0x09
const LF = 0x0a
const CR = 0x0d
const SPACE = 0x20
const HASH = 0x23
const PARENTHESIS = 0x29
const STAR = 0x2a
const PLUS = 0x2b
const DASH = 0x2d
const DOT = 0x2e
const LT = 0x3c
const EQUALS = 0x3d
const GT = 0x3e
const UNDERSCORE = 0x5f
const BACKTICK = 0x60
const TILDE = 0x7e

function isLineEnd(code: number): boolean {
  return code === LF || code === CR
}

function isBlank(code: number): boolean {
  return code === SPACE || code === TAB
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39
}

/** What `\s` matches. */
function isSpace(code: number): boolean {
  if (code <= SPACE) return code === SPACE || (code >= TAB && code <= CR)
  if (code < 0x1680) return code === 0xa0
  if (code >= 0x2000 && code <= 0x200a) return true
  return [0x1680, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000, 0xfeff].includes(code)
}

/** Full stop, exclamation or question mark, ellipsis. */
function isStop(code: number): boolean {
  return code === DOT || code === 0x21 || code === 0x3f || code === 0x2026 || code === 0x61f || code === 0x964
}

/** Stops of scripts that put no space behind them. */
function isWideStop(code: number): boolean {
  return code === 0x3002 || code === 0xff01 || code === 0xff1f || code === 0xff61
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff
}

function isLowSurrogate(code: number): boolean {
  return code >= 0xdc00 && code <= 0xdfff
}
