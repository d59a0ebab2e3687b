import { frontMatterEnd } from './front-matter.ts'

// As in CommonMark, the line that opens a fence of backticks has no others: "```a``` b" is code within a line.
const fence = '^[ \\t]*(?<fence>`{3,}(?!`)(?![^\\n]*`)|~{3,})[^\\n]*'
const code = '(?<code>`[^`\\n]*`)'
const statement = `^(?<statement>import[ \\t]+(?:[\\w*{][^'"\\n]{0,500}[ \\t}]from[ \\t]+)?['"][^'"\\n]+['"];?[ \\t]*$)`
const block =
  '^(?<block>(?:import[ \\t]+(?:\\w+,[ \\t]*)?\\{[ \\t]*$|export[ \\t]+(?:default[ \\t]+(?:function|class|\\{|\\()|(?:const|let|var|function|class)[ \\t]+\\w+|[{*])))'
const link = `!?\\[(?<label>[^[\\]\\n]*)\\]\\([ \\t]*(?<target><[^<>\\n]{0,2000}>|[^\\s()]{0,2000})(?:[ \\t]+["'][^"'\\n]{0,500}["'])?[ \\t]*\\)`

/** What is left out, and code, which is kept whole. Of alternatives that match at one place, the first counts. */
const hiddenPart = new RegExp(
  [fence, code, '(?<comment><!--)', '^[ \\t]*(?<template>\\{%[^\\n]*%\\})[ \\t]*$', statement, block].join(
    '|',
  ),
  'gm',
)
const links = new RegExp([fence, code, link].join('|'), 'gm')
const mayHoldHidden = /<!--|\{%|^(?:im|ex)port[ \t]/m
/** A link that works outside its page. */
const absoluteLink = /^<?(?:[a-z][a-z0-9+.-]*:|\/\/)/i
/** Blank lines after front matter. */
const leadingLines = /^(?:[ \t]*\r?\n)+/
const templateTag = /\{%[^\n]*?%\}/g

// A label has no brackets: otherwise each of a thousand open brackets would be searched to the end of its line.
const labelledLink = /\[([^[\]\n]*)\]\([^)\n]*\)/g
const linkLine = /^[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?(?:\*\*)?\[[^[\]\n]*\]\([^)\n]*\)(?:\*\*)?[ \t.]*$/gm

/**
 * The part of an item's text that is searched: without front matter, HTML comments, template lines (`{% … %}`), and MDX
 * imports and exports. Code stays unchanged. Takes linear time.
 */
export function passageText(text: string): string {
  const start = frontMatterEnd(text)
  // A byte order mark alone ends at 1.
  const body = start > 1 ? text.slice(start).replace(leadingLines, '') : text.slice(start)
  const read = mayHoldHidden.test(body) ? withoutMarks(body, hiddenPart) : body
  // If nothing remains, the whole text is searched.
  return read.trim() === '' ? text : read
}

/**
 * A passage as agents get it: relative links and images are replaced by their labels. Not done before search, which
 * ranks a line that is only a link lower.
 */
export function withLabels(passage: string): string {
  return passage.includes('](') ? withoutMarks(passage, links) : passage
}

/**
 * A text with its links replaced by their labels. A line that is only a link is dropped: it names another page, and
 * would make this text look like that page.
 */
export function withoutLinks(text: string): string {
  if (!text.includes('](')) return text
  const read = text.replace(linkLine, '').replace(labelledLink, '$1')
  // If there is nothing but links, the text is about them.
  return read.trim() === '' ? text.replace(labelledLink, '$1') : read
}

function withoutMarks(body: string, marks: RegExp): string {
  const lastCommentEnd = body.lastIndexOf('-->')
  const pattern = new RegExp(marks)
  let read = ''
  let at = 0
  for (let mark = pattern.exec(body); mark; mark = pattern.exec(body)) {
    const end = endOf(body, mark, lastCommentEnd)
    const replacement = replacementOf(mark, end)
    if (replacement !== null) {
      read += body.slice(at, mark.index) + replacement
      at = end
    }
    pattern.lastIndex = end
  }
  return read + body.slice(at)
}

/** Where the comment, block or code ends that a mark begins. */
function endOf(body: string, mark: RegExpExecArray, lastCommentEnd: number): number {
  const { fence, comment, block } = mark.groups ?? {}
  const from = mark.index + mark[0].length
  if (comment !== undefined) return from <= lastCommentEnd ? body.indexOf('-->', from) + 3 : from
  if (block !== undefined) return indexFrom(body, /^[ \t]*$/gm, from)
  if (fence === undefined) return from
  // The end of the closing line: its start would be read as the opening of another fence.
  const closing = new RegExp(`^[ \\t]*${fence[0]}{${fence.length},}[ \\t]*$`, 'gm')
  closing.lastIndex = from
  return closing.test(body) ? closing.lastIndex : body.length
}

/** The offset at which a pattern next matches; the end of the text if it does not. */
function indexFrom(text: string, pattern: RegExp, from: number): number {
  pattern.lastIndex = from
  return pattern.exec(text)?.index ?? text.length
}

/** The replacement for a mark and what it begins; null if they stay. */
function replacementOf({ 0: mark, index, groups = {} }: RegExpExecArray, end: number): string | null {
  const { comment, template, statement, block, label, target = '' } = groups
  if (comment !== undefined) return end > index + mark.length ? '' : null
  if (template !== undefined) return template.replace(templateTag, '').trim() === '' ? '' : null
  if (statement !== undefined || block !== undefined) return ''
  return label === undefined || absoluteLink.test(target) ? null : label
}
