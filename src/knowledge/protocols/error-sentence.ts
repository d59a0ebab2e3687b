import type { AppError, FieldError } from '../../errors.ts'

/** What went wrong, for protocols whose errors are one text: the documented sentence and what is behind it. */
export function errorSentence(error: AppError): string {
  const reason = error.errors ? faultsSentence(error.errors) : error.detail
  return reason === `${error.title}.` ? reason : `${error.title}: ${reason}`
}

export function faultsSentence(faults: FieldError[]): string {
  return faults.map(({ field, message }) => `${field}: ${message}`).join('; ')
}
