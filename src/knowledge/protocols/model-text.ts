import { frontMatterEnd } from '../chunking/front-matter.ts'
import type { SearchHit } from '../schemas.ts'

/** A passage's text as a model gets it: front matter, with which a document may begin, is nothing to be read aloud. */
export function modelText({ text, position }: Pick<SearchHit, 'text' | 'position'>): string {
  return position === 0 ? text.slice(frontMatterEnd(text)).trimStart() : text
}
