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
  /** The part of the set that it belongs to, if the set has parts. */
  set?: string
}

/** Passages and questions about them. */
export interface QuestionSet {
  name: string
  passages: Passage[]
  questions: Question[]
}

/** The question sets in the data folder. */
export function readQuestionSets(data: string | null, names = ['squad', 'help']): QuestionSet[] {
  if (data === null) return []
  return names.flatMap((name) => {
    const fileOf = (kind: string) => join(data, 'retrieval', `${name}-${kind}.jsonl`)
    if (!existsSync(fileOf('passages'))) return []
    return [{ name, passages: readLines(fileOf('passages')), questions: readLines(fileOf('queries')) }]
  })
}

function readLines<Line>(file: string): Line[] {
  const lines = readFileSync(file, 'utf8').split('\n')
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line))
}
