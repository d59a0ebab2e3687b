import { notifications } from '@mantine/notifications'
import { ApiProblem } from '../api.ts'
import { sentenceOf } from './field-sentence.ts'

/** Says that what somebody asked for was not done, and why. */
export function sayNotDone(title: string, error: unknown): void {
  notifications.show({ color: 'red', title, message: reasonOf(error) })
}

/** Why a request failed. */
function reasonOf(error: unknown): string {
  if (!(error instanceof ApiProblem)) return String(error)
  if (error.fields.length === 0) return error.detail
  return error.fields.map(({ field, message }) => `${sentenceOf(field, message)}.`).join(' ')
}
