/**
 * A text as it reads, without where its links lead. A line that is nothing but a link is left out: it names another
 * page, and would make the text it stands in look like that one.
 */
export function withoutLinks(text: string): string {
  if (!text.includes('](')) return text
  const read = text.replace(linkLine, '').replace(link, '$1')
  // A text of nothing but links is about them after all.
  return read.trim() === '' ? text.replace(link, '$1') : read
}

// A label holds no bracket, or each of a thousand open ones would be followed to the end of its line.
const link = /\[([^[\]\n]*)\]\([^)\n]*\)/g
const linkLine = /^[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?(?:\*\*)?\[[^[\]\n]*\]\([^)\n]*\)(?:\*\*)?[ \t.]*$/gm
