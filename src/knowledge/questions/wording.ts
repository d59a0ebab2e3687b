import type { RecordHash } from '../../db/record-hash.ts'

/** As long as no two of a project's 100,000 questions are likely to share one. */
const wordingChars = 24

/** The keyed hash that questions share which are equal but for case, white space, and punctuation around them. */
export function wordingOf(recordHash: RecordHash, projectId: number, query: string): string {
  return recordHash(projectId, 'wording', plainOf(query)).slice(0, wordingChars)
}

/** Whether two texts are one wording, as above. */
export function areOneWording(a: string, b: string): boolean {
  return plainOf(a) === plainOf(b)
}

function plainOf(query: string): string {
  const text = query.normalize('NFKC').toLowerCase().replace(/\s+/g, ' ').trim()
  return text.replace(/^[\p{P} ]+|[\p{P} ]+$/gu, '') || text
}
