import type { Texts } from '../texts.ts'
import { readQuestionSets } from './sets.ts'

const wordsEach = 9

/** Distinct questions about the corpus: real ones, or words of the generated texts. */
export function readQuestions(data: string | null, { passages }: Texts, sets = ['squad']): string[] {
  const asked = readQuestionSets(data, sets).flatMap(({ questions }) => questions.map(({ query }) => query))
  return [...new Set(asked.length > 0 ? asked : passages.flatMap(({ text }) => generateQuestions(text)))]
}

function generateQuestions(text: string): string[] {
  const words = text.split(/\s+/)
  return [0, 1, 2].map((index) => words.slice(index * wordsEach, (index + 1) * wordsEach).join(' '))
}
