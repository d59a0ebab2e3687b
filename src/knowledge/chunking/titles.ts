import MarkdownIt from 'markdown-it'
import { graphemeStart } from '../../text/graphemes.ts'
import type { Heading } from './headings.ts'

const titleCharsMax = 120
const titleSourceCharsMax = 400
/** More marks than any real title has: inline parsing is quadratic in them. */
const titleMarksMax = 40
const markdown = new MarkdownIt('commonmark')

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
  for (const { type, content } of markdown.parseInline(source, {})[0]?.children ?? []) {
    if (type === 'softbreak' || type === 'hardbreak') plain += ' '
    else if (type === 'text' || type === 'code_inline' || type === 'image') plain += content
  }
  return plain
}
