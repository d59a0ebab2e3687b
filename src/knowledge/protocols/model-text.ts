import { frontMatterEnd } from '../chunking/front-matter.ts'
import type { SearchHit } from '../schemas.ts'

/** A passage's text for a model: without the document's front matter, which nobody should hear read aloud. */
export function modelText({ text, position }: Pick<SearchHit, 'text' | 'position'>): string {
  return position === 0 ? text.slice(frontMatterEnd(text)).trimStart() : text
}
