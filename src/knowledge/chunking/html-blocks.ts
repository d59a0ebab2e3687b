export interface HtmlBlock {
  opens: RegExp
  /** What its last line contains; null for a block that a blank line ends. */
  closes: RegExp | null
  /** Whether it may follow a paragraph's line. */
  interrupts: boolean
}

/** The kind of HTML block that a line opens; `source` is the line without its indentation. */
export function htmlBlockOf(source: string): HtmlBlock | null {
  const start = source.slice(0, tagCharsMax)
  const block = htmlBlocks.find(({ opens }) => opens.test(start)) ?? null
  // Of a longer line we do not know whether the tag is all that it holds.
  return block === anyTag && source.length > tagCharsMax ? null : block
}

const tagCharsMax = 1_000
const names =
  'address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details|dialog|dir|div|dl|' +
  'dt|fieldset|figcaption|figure|footer|form|frame|frameset|h[1-6]|head|header|hr|html|iframe|legend|li|link|' +
  'main|menu|menuitem|nav|noframes|ol|optgroup|option|p|param|search|section|summary|table|tbody|td|tfoot|th|' +
  'thead|title|tr|track|ul'
const attribute = '\\s+[a-zA-Z_:][\\w.:-]*(?:\\s*=\\s*(?:[^\\s"\'=<>`]+|\'[^\']*\'|"[^"]*"))?'
const openingTag = `<[a-zA-Z][a-zA-Z0-9-]*(?:${attribute})*\\s*/?>`
const closingTag = '</[a-zA-Z][a-zA-Z0-9-]*\\s*>'

const anyTag: HtmlBlock = {
  opens: new RegExp(`^(?:${openingTag}|${closingTag})\\s*$`),
  closes: null,
  interrupts: false,
}

/** The seven kinds in their order: https://spec.commonmark.org/0.31.2/#html-blocks */
const htmlBlocks: readonly HtmlBlock[] = [
  {
    opens: /^<(?:script|pre|style|textarea)(?=\s|>|$)/i,
    closes: /<\/(?:script|pre|style|textarea)>/i,
    interrupts: true,
  },
  { opens: /^<!--/, closes: /-->/, interrupts: true },
  { opens: /^<\?/, closes: /\?>/, interrupts: true },
  { opens: /^<![A-Za-z]/, closes: />/, interrupts: true },
  { opens: /^<!\[CDATA\[/, closes: /\]\]>/, interrupts: true },
  { opens: new RegExp(`^</?(?:${names})(?=\\s|/?>|$)`, 'i'), closes: null, interrupts: true },
  anyTag,
]
