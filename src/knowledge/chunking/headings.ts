import MarkdownIt, { type Token } from 'markdown-it'
import { frontMatterEnd } from './front-matter.ts'

/** A heading of the document itself, not of a list item or a quotation in it. */
export interface Heading {
  level: number
  /** Offset of the heading's first line. */
  start: number
  /** The title as Markdown. */
  source: string
}

/** The headings of a Markdown text by CommonMark, front matter left out. */
export function findHeadings(text: string): Heading[] {
  const bodyStart = frontMatterEnd(text)
  const outline = new Outline(withLineFeeds(text.slice(bodyStart)))
  markdown.block.tokenize(outline, 0, outline.lineMax)
  return outline.headings.map((heading) => ({ ...heading, start: bodyStart + heading.start }))
}

/** The parser knows `\n` alone. The length stays the same, and with it every offset. */
function withLineFeeds(text: string): string {
  return text.replaceAll('\r\n', ' \n').replaceAll('\r', '\n')
}

const listDepthMax = 32
// A quotation reads ahead over all lines that may belong to it, so the time grows with each level of them.
const quotationDepthMax = 4

const markdown = new MarkdownIt('commonmark', { maxNesting: listDepthMax })
// No heading needs link definitions.
markdown.block.ruler.disable('reference')

/** How many levels of `maxNesting` an element takes; others take one. A list's level is that of its item. */
const levelsByTag: Record<string, number> = { ul: 0, ol: 0, blockquote: listDepthMax / quotationDepthMax }

/** Keeps the headings and drops all other tokens, of which 1 MiB of Markdown can have two million. */
class Outline extends markdown.block.State {
  readonly headings: Heading[] = []
  #opening: Token | undefined
  #title: Token | undefined

  constructor(source: string) {
    super(source, markdown, {}, [])
  }

  override push(type: string, tag: string, nesting: -1 | 0 | 1): Token {
    const token = super.push(type, tag, nesting)
    this.tokens.pop()
    this.level += nesting * ((levelsByTag[tag] ?? 1) - 1)
    if (type === 'heading_open') this.#opening = token
    else if (type === 'inline') this.#title = token
    else if (type === 'heading_close' && token.level === 0) this.#takeHeading(Number(tag.slice(1)))
    return token
  }

  #takeHeading(level: number): void {
    const [line = 0] = this.#opening?.map ?? []
    this.headings.push({ level, start: this.bMarks[line] ?? 0, source: this.#title?.content ?? '' })
  }
}
