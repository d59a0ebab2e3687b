import {
  closesFence,
  columnAfterBlanks,
  fenceOf,
  headingLevel,
  isThematicBreak,
  listMarkerOf,
  quotesParagraph,
  underlineLevel,
} from './block-starts.ts'
import { frontMatterEnd } from './front-matter.ts'
import { htmlBlockOf } from './html-blocks.ts'

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
  let at = frontMatterEnd(text)
  let lf = -1
  let cr = -1
  while (at < text.length) {
    if (lf < at) lf = indexOrEnd(text, '\n', at)
    if (cr < at) cr = indexOrEnd(text, '\r', at)
    const end = Math.min(lf, cr)
    scanner.take(at, end)
    at = end === cr && lf === cr + 1 ? end + 2 : end + 1
  }
  return scanner.headings
}

function indexOrEnd(text: string, search: string, from: number): number {
  const index = text.indexOf(search, from)
  return index === -1 ? text.length : index
}

/** A line that is not blank, by offsets; `first` is the first character that is no blank. */
interface Line {
  start: number
  end: number
  first: number
  /** Columns before `first`, tabs counted to stops of four. */
  indent: number
}

/** An open block whose lines are not Markdown. */
interface RawBlock {
  /** Lines indented less than the list item it is in end it. */
  container: number
  /** Whether this line is its last. */
  ends: (line: Line) => boolean
  endsAtBlank: boolean
}

const listDepthMax = 32

/** Follows the blocks that a text opens and closes, line by line. */
class HeadingScanner {
  readonly headings: Heading[] = []
  private readonly text: string
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

  take(start: number, end: number): void {
    const { first, indent } = columnAfterBlanks(this.text, start, end, 0)
    const line = { start, end, first, indent }
    if (first === end) this.takeBlank()
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
    const leaves = line.indent < raw.container
    if (leaves || raw.ends(line)) this.raw = null
    return !leaves
  }

  private takeMarkdown(line: Line): void {
    const { listDepth } = this
    while (line.indent < this.container()) this.listDepth--
    const isInside = this.listDepth === listDepth
    const continues = isInside && this.paragraph !== null && this.paragraph !== 'quoted'
    this.itemIsEmpty = false
    if (this.takeBlocks(line, continues)) return
    // Perhaps a lazy line: the paragraph, and with it the list items around it, go on.
    if (this.paragraph === 'quoted' || this.paragraph === 'listed') this.listDepth = listDepth
    else if (this.listDepth > 0) this.paragraph = 'listed'
    else this.paragraph ??= { start: line.start, first: line.first }
  }

  /**
   * Takes everything but a paragraph's text; false when the line is that. `continues` tells that the open
   * paragraph stands in the very container that the line is in.
   */
  private takeBlocks(line: Line, continues: boolean): boolean {
    const { text } = this
    let { first, indent } = line
    let mayContinue = continues
    // Once around for each list marker of the line.
    while (indent - this.container() <= 3) {
      switch (text.charAt(first)) {
        case '#':
          return this.takeAtx(first, line)
        case '>':
          return this.takeQuotation(first, line)
        case '<':
          return this.takeHtml(first, line)
        case '`':
        case '~':
          return this.takeFence(first, line)
      }
      if (mayContinue && this.takeUnderline(first, line)) return true
      if (this.takeThematicBreak(first, line)) return true
      const marker = listMarkerOf(text, first, line.end, indent)
      if (!marker || this.listDepth === listDepthMax || (mayContinue && !marker.interrupts)) return false
      this.lists[this.listDepth++] = marker.content
      this.paragraph = null
      mayContinue = false
      first = marker.first
      indent = marker.indent
      this.itemIsEmpty = first === line.end
      if (this.itemIsEmpty) return true
    }
    // Indented code, unless it goes on with a paragraph.
    return this.paragraph === null
  }

  /** Column at which the content of the innermost list item starts. */
  private container(): number {
    return this.listDepth === 0 ? 0 : (this.lists[this.listDepth - 1] ?? 0)
  }

  private takeAtx(first: number, { start, end }: Line): boolean {
    const level = headingLevel(this.text, first, end)
    if (level === 0) return false
    if (this.listDepth === 0) this.headings.push({ level, start, titleStart: first + level, titleEnd: end })
    this.paragraph = null
    return true
  }

  private takeQuotation(first: number, { end }: Line): boolean {
    this.paragraph = quotesParagraph(this.text, first, end) ? 'quoted' : null
    return true
  }

  private takeHtml(first: number, { end }: Line): boolean {
    const source = this.text.slice(first, end)
    const block = htmlBlockOf(source)
    if (!block || (this.paragraph !== null && !block.interrupts)) return false
    const { closes } = block
    this.paragraph = null
    if (closes?.test(source)) return true
    const ends = (next: Line) => closes?.test(this.text.slice(next.first, next.end)) ?? false
    this.raw = { container: this.container(), ends, endsAtBlank: closes === null }
    return true
  }

  private takeFence(first: number, { end }: Line): boolean {
    const fence = fenceOf(this.text, first, end)
    if (!fence) return false
    const container = this.container()
    const ends = (next: Line) =>
      next.indent - container <= 3 && closesFence(this.text, next.first, next.end, fence)
    this.raw = { container, ends, endsAtBlank: false }
    this.paragraph = null
    return true
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

  private takeThematicBreak(first: number, { end }: Line): boolean {
    if (!isThematicBreak(this.text, first, end)) return false
    this.paragraph = null
    return true
  }
}
