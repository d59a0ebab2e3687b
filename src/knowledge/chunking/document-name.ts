import { withoutHidden } from '../../validation.ts'
import { frontMatterValue } from './front-matter.ts'
import { findHeadings, readTitle } from './headings.ts'

const nameCharsMax = 200

/** The name that a document gives itself, in its front matter or in its first heading; null if it has neither. */
export function documentName(text: string): string | null {
  const own = frontMatterValue(text, 'title') ?? frontMatterValue(text, 'name')
  // Headings without a title are skipped, such as those that are only an image.
  const title =
    own ??
    findHeadings(text)
      .map(readTitle)
      .find((read) => read !== '')
  return title === undefined ? null : toItemName(title) || null
}

/** Removes characters that an item's name may not contain, and cuts the title to the longest allowed name. */
export function toItemName(title: string): string {
  const name = withoutHidden(title)
  const chars = [...name]
  return chars.length <= nameCharsMax ? name : `${chars.slice(0, nameCharsMax - 1).join('')}…`
}
