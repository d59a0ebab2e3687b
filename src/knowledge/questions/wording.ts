import { type SQL, sql } from 'drizzle-orm'
import type { RecordHash } from '../../db/record-hash.ts'
import type { TagFilter } from '../../text/tags.ts'
import { readTerms } from '../search/query.ts'

/** As long as no two of a project's 100,000 questions are likely to share one. */
const wordingChars = 24
/** The first characters are the hash of the words alone, the others that of the words and their tags. */
const wordsChars = 12

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
  const hashOf = (text: string) => recordHash(projectId, 'wording', text)
  if (tags.length === 0) return hashOf(plain).slice(0, wordingChars)
  const ofTags = hashOf(JSON.stringify([plain, tags])).slice(wordsChars, wordingChars)
  return hashOf(plain).slice(0, wordsChars) + ofTags
}

/** SQL: whether the wording in the column has these words, within whatever tags. */
export function hasWordsOf(wording: string): SQL {
  const words = wording.slice(0, wordsChars)
  return sql`(wording >= ${words} and wording < ${`${words}~`})`
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
