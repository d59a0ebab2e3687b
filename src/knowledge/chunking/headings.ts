import MarkdownIt, { type Token } from 'markdown-it'
import { graphemeStart } from '../../text/graphemes.ts'
import { frontMatterEnd } from './front-matter.ts'

/** A heading of the document itself, not of a list item or a quotation in it. */
export interface Heading {
  level: number
  /** Offset of the heading's first line. */
  start: number
  /** The title as Markdown. */
  source: string
}

/** The headings of a Markdown text by CommonMark, without its front matter. */
export function findHeadings(text: string): Heading[] {
  const bodyStart = frontMatterEnd(text)
  const outline = new Outline(withLineFeeds(text.slice(bodyStart)))
  markdown.block.tokenize(outline, 0, outline.lineMax)
  return outline.headings.map((heading) => ({ ...heading, start: bodyStart + heading.start }))
}

/** The parser knows only `\n`. The length stays the same, and so do all offsets. */
function withLineFeeds(text: string): string {
  return text.replaceAll('\r\n', ' \n').replaceAll('\r', '\n')
}

const listDepthMax = 32
// The parser reads ahead once for each level of quotation, so its time grows with the depth.
const quotationDepthMax = 4

const markdown = new MarkdownIt('commonmark', { maxNesting: listDepthMax })
// No heading needs link definitions.
markdown.block.ruler.disable('reference')

/** How many levels of `maxNesting` an element counts for; any other counts for one. A list counts by its items. */
const levelsByTag: Record<string, number> = { ul: 0, ol: 0, blockquote: listDepthMax / quotationDepthMax }

/** Keeps the headings and drops all other tokens, of which 1 MiB of Markdown can have two million. */
class Outline extends markdown.block.State {
  readonly headings: Heading[] = []
  #inline: Token | undefined

  constructor(source: string) {
    super(source, markdown, {}, [])
  }

  override push(type: string, tag: string, nesting: -1 | 0 | 1): Token {
    const token = super.push(type, tag, nesting)
    this.tokens.pop()
    this.level += nesting * ((levelsByTag[tag] ?? 1) - 1)
    // A heading's content comes between its opening and its closing.
    if (type === 'inline') this.#inline = token
    if (type === 'heading_close' && token.level === 0) {
      const { content = '', map } = this.#inline ?? {}
      this.headings.push({
        level: Number(tag.slice(1)),
        start: this.bMarks[map?.[0] ?? 0] ?? 0,
        source: content,
      })
    }
    return token
  }
}

const titleCharsMax = 120
const titleSourceCharsMax = 400
/** More marks than any real title has: inline parsing is quadratic in them. */
const titleMarksMax = 40
const inlineMarkdown = new MarkdownIt('commonmark')

/** A heading's title as plain text on one line, cut when it is long. */
export function readTitle({ source }: Heading): string {
  // `## Title {#anchor}` is how Docusaurus and others name an anchor. Readers do not see it.
  const visible = source.slice(0, titleSourceCharsMax).replace(/[ \t]*\{#[^{}]*\}[ \t]*$/, '')
  const marks = visible.match(/[*_`[\]<!&\\]/g)?.length ?? 0
  const plain = marks > titleMarksMax ? visible : plainText(visible.trim())
  const title = plain.replace(/\s+/g, ' ').trim()
  if (title.length <= titleCharsMax) return title
  return `${title.slice(0, graphemeStart(title, 0, titleCharsMax - 1))}…`
}

function plainText(source: string): string {
  let plain = ''
  for (const { type, content } of inlineMarkdown.parseInline(source, {})[0]?.children ?? []) {
    if (type === 'softbreak' || type === 'hardbreak') plain += ' '
    else if (type === 'text' || type === 'code_inline' || type === 'image') plain += content
  }
  return plain
}
