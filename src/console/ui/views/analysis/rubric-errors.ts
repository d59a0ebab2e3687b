import { ApiProblem } from '../../api.ts'
import { sentenceOf } from '../../components/field-sentence.ts'

/** The parts of a rubric, each of which shows its own errors. */
const parts = ['summary', 'criteria', 'fields', 'evaluation', 'when', 'share', 'tokensPerMonth']

/** What is wrong with a field, or with a part of it: `criteria.0.name` of a rubric. */
export function errorAt(error: unknown, path: string): string | undefined {
  return error instanceof ApiProblem
    ? error.fields
        .filter(({ field }) => field === path || field.startsWith(`${path}.`))
        .map(({ field, message }) => sentenceOf(field, message))[0]
    : undefined
}

/** What is wrong with a list as a whole. */
export function errorOfList(error: unknown, list: string): string | undefined {
  const found = error instanceof ApiProblem ? error.fields.find(({ field }) => field === list) : undefined
  return found && sentenceOf(found.field, found.message)
}

/** Whether fields show all of the error. */
export function isShownByFields(error: unknown): boolean {
  return (
    error instanceof ApiProblem &&
    error.fields.length > 0 &&
    error.fields.every(({ field }) => parts.includes(field.split('.')[0] ?? ''))
  )
}
