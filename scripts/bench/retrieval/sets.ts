import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface Passage {
  doc_id: string
  /** Empty if the set has no titles. */
  title: string
  text: string
}

export interface Question {
  query: string
  /** The passage that answers it. */
  doc_id: string
  /** All passages that answer it, where there are several. */
  doc_ids?: string[]
  /** The part of the set that it belongs to, if the set has parts. */
  set?: string
}

/** Passages and questions about them. */
export interface QuestionSet {
  name: string
  passages: Passage[]
  questions: Question[]
}

/** Encyclopedia, help pages, search queries, and other languages; the last four have English titles. */
const questionSets = [
  ...['squad', 'help', 'nq', 'boolq', 'covid-faq', 'mtrag-govt', 'mtrag-clapnq'],
  ...['xquad-de', 'xquad-ar', 'xquad-th', 'xquad-zh'],
]

/** The question sets in the data folder. */
export function readQuestionSets(data: string | null, names = questionSets): QuestionSet[] {
  if (data === null) return []
  return names.flatMap((name) => {
    const fileOf = (kind: string) => join(data, 'retrieval', `${name}-${kind}.jsonl`)
    if (!existsSync(fileOf('passages'))) return []
    return [{ name, passages: readLines(fileOf('passages')), questions: readLines(fileOf('queries')) }]
  })
}

/** The name of a passage's item. */
export function nameOf({ title }: Passage, index: number): string {
  return title?.replace(/\s+/g, ' ').trim() || `Article ${index + 1}`
}

/** The ids of the passages that answer a question. */
export function answersOf({ doc_id, doc_ids = [doc_id] }: Question): string[] {
  return doc_ids
}

function readLines<Line>(file: string): Line[] {
  const lines = readFileSync(file, 'utf8').split('\n')
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line))
}
