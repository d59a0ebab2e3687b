import { ApiProblem } from '../api.ts'
import { sentenceOf } from './field-sentence.ts'

/** A sentence for each bad field, by the last part of its path: `email` of `newPerson.email`. */
export function fieldErrors(error: unknown): Record<string, string> {
  if (!(error instanceof ApiProblem)) return {}
  return Object.fromEntries(
    error.fields.map(({ field, message }) => [field.split('.').at(-1) ?? field, sentenceOf(field, message)]),
  )
}
