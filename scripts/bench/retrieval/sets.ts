import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Services } from '../../../src/services/services.ts'
import { readLines } from '../texts.ts'

/** Passages and questions about them. */
export interface QuestionSet {
  name: string
  /** Without a title if the set has none. */
  passages: { doc_id: string; title: string; text: string }[]
  /** With the passage, or all passages, that answer each. */
  questions: { query: string; doc_id: string; doc_ids?: string[] }[]
}

/** Encyclopedia, help pages, search queries, and other languages; the last four have English titles. */
const names = [
  'squad',
  'help',
  'nq',
  'boolq',
  'covid-faq',
  'mtrag-govt',
  'mtrag-clapnq',
  'xquad-de',
  'xquad-ar',
  'xquad-th',
  'xquad-zh',
]

/** The question sets in the data folder. */
export function readQuestionSets(data: string | null): QuestionSet[] {
  if (data === null) return []
  return names.flatMap((name) => {
    const fileOf = (kind: string) => join(data, 'retrieval', `${name}-${kind}.jsonl`)
    if (!existsSync(fileOf('passages'))) return []
    return [{ name, passages: readLines(fileOf('passages')), questions: readLines(fileOf('queries')) }]
  })
}

/** Stores each passage as an item that has its id, and resolves when all are indexed. */
export async function storeSet(
  { knowledge, indexer }: Services,
  projectId: number,
  { passages }: Pick<QuestionSet, 'passages'>,
): Promise<void> {
  for (const [at, { doc_id: id, title, text }] of passages.entries()) {
    const name = title?.replace(/\s+/g, ' ').trim() || `Article ${at + 1}`
    await knowledge.store(projectId, { name, text }, { id })
  }
  indexer.wake(projectId)
  await indexer.idle()
}

/** The ids of the passages that answer a question. */
export function answersOf({ doc_id, doc_ids = [doc_id] }: QuestionSet['questions'][number]): string[] {
  return doc_ids
}

/** At most so many, evenly spread. */
export function spread<Each>(all: readonly Each[], most: number): Each[] {
  const step = Math.max(1, Math.floor(all.length / most))
  return all.filter((_, at) => at % step === 0).slice(0, most)
}
