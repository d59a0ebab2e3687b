import { frontMatterEnd } from './front-matter.ts'
import { findHeadings } from './headings.ts'
import { readTitle } from './titles.ts'

const nameCharsMax = 200

/**
 * What a document calls itself: its first heading when that is of the first level, else the `title` of its
 * front matter, which then stands for that level, else its first heading whatever the level. Code blocks have
 * no headings. Null when there is none of these.
 */
export function documentName(text: string): string | null {
  const { level, title } = firstHeading(text)
  const name = level === 1 ? title : (frontMatterTitle(text) ?? title)
  return name === null ? null : shortened(name)
}

/** At most as long as an item's name may be, in code points. */
export function shortened(name: string): string {
  const chars = [...name]
  return chars.length <= nameCharsMax ? name : `${chars.slice(0, nameCharsMax - 1).join('')}…`
}

/** A heading without a title, such as one that is an image only, says nothing. */
function firstHeading(text: string): { level: number; title: string | null } {
  for (const heading of findHeadings(text)) {
    const title = readTitle(heading)
    if (title !== '') return { level: heading.level, title }
  }
  return { level: 0, title: null }
}

/** A `title` of one line, in YAML or TOML; the ways to write a longer one are left alone. */
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
