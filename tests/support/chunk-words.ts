import type { ReadDatabase } from '../../src/db/reader.ts'
import { ownWord } from '../../src/db/word-segments.ts'
import { readChunkSegments, readMatching } from '../../src/knowledge/search/word-queries.ts'

/** The labels of a project's chunks with a word, which is given as its stem. */
export async function chunksWith(db: ReadDatabase, projectId: number, stem: string): Promise<number[]> {
  const segments = await readChunkSegments(db, projectId)
  const match = `"${ownWord(projectId, stem)}"`
  const labels = await readMatching(db, projectId, segments, { match, within: undefined, limit: 10_000 })
  return labels.sort((a, b) => a - b)
}
