import type { AppError, FieldError } from '../errors.ts'

/** An error as one text, for protocols that have no fields: the title and the detail. */
export function errorSentence(error: AppError): string {
  const reason = error.errors ? faultsSentence(error.errors) : error.detail
  return reason === `${error.title}.` ? reason : `${error.title}: ${reason}`
}

export function faultsSentence(faults: FieldError[]): string {
  return faults.map(({ field, message }) => `${field}: ${message}`).join('; ')
}
