import type { RecordHash } from '../../db/record-hash.ts'
import type { TagFilter } from '../../text/tags.ts'
import { readTerms } from '../search/query.ts'

/** As long as no two of a project's 100,000 questions are likely to share one. */
const wordingChars = 24

/**
 * The keyed hash that questions share which are asked within the same tags, and are equal but for case, white space, and
 * punctuation around them.
 */
export function wordingOf(
  recordHash: RecordHash,
  projectId: number,
  { query, tags }: { query: string; tags: TagFilter },
): string {
  const plain = plainOf(query)
  const text = tags.length > 0 ? JSON.stringify([plain, tags]) : plain
  return recordHash(projectId, 'wording', text).slice(0, wordingChars)
}

/** Whether two texts are one wording, as above. */
export function areOneWording(a: string, b: string): boolean {
  return plainOf(a) === plainOf(b)
}

/** Whether a text has at least half of these stems; never for none. */
export function sharesHalf(stems: readonly string[], text: string): boolean {
  const own = new Set(readTerms(text).map(({ stem }) => stem))
  return stems.length > 0 && stems.filter((stem) => own.has(stem)).length * 2 >= stems.length
}

function plainOf(query: string): string {
  const text = query.normalize('NFKC').toLowerCase().replace(/\s+/g, ' ').trim()
  return text.replace(/^[\p{P} ]+|[\p{P} ]+$/gu, '') || text
}
