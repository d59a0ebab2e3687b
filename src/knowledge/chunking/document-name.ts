import { withoutHidden } from '../../validation.ts'
import { frontMatterEnd } from './front-matter.ts'
import { findHeadings, readTitle } from './headings.ts'

const nameCharsMax = 200

/**
 * The name that a document gives itself: its first heading if that is of level 1, else the `title` of its front
 * matter, else its first heading of any level. Null if it has none of these.
 */
export function documentName(text: string): string | null {
  // Headings without a title are skipped, such as those that are only an image.
  const heading = findHeadings(text).find((heading) => readTitle(heading) !== '')
  const title = heading ? readTitle(heading) : null
  const name = heading?.level === 1 ? title : (frontMatterTitle(text) ?? title)
  return name === null ? null : toItemName(name) || null
}

/** Removes characters that an item's name may not contain, and cuts the title to the longest allowed name. */
export function toItemName(title: string): string {
  const name = withoutHidden(title)
  const chars = [...name]
  return chars.length <= nameCharsMax ? name : `${chars.slice(0, nameCharsMax - 1).join('')}…`
}

/** A `title` on one line, in YAML or TOML. Longer forms are not read. */
function frontMatterTitle(text: string): string | null {
  const frontMatter = text.slice(0, frontMatterEnd(text))
  const line = /^title[ \t]*[:=][ \t]*([^\r\n]+)$/m.exec(frontMatter)
  const value = line?.[1]?.trim() ?? ''
  const title = unquoted(value) ?? value.replace(/(?:^|[ \t])#.*$/, '')
  return title.trim() === '' || /^[|>&*!{[]/.test(value) ? null : title.trim()
}

function unquoted(value: string): string | null {
  const [, double, single] = /^(?:"((?:[^"\\]|\\.)*)"|'((?:[^']|'')*)')/.exec(value) ?? []
  return double?.replace(/\\(["\\])/g, '$1') ?? single?.replaceAll("''", "'") ?? null
}
