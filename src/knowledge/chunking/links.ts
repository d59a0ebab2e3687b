/**
 * A text with its links replaced by their labels. A line that is only a link is dropped: it names another page, and
 * would make this text look like that page.
 */
export function withoutLinks(text: string): string {
  if (!text.includes('](')) return text
  const read = text.replace(linkLine, '').replace(link, '$1')
  // If there is nothing but links, the text is about them.
  return read.trim() === '' ? text.replace(link, '$1') : read
}

// A label has no brackets: otherwise each of a thousand open brackets would be searched to the end of its line.
const link = /\[([^[\]\n]*)\]\([^)\n]*\)/g
const linkLine = /^[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?(?:\*\*)?\[[^[\]\n]*\]\([^)\n]*\)(?:\*\*)?[ \t.]*$/gm
