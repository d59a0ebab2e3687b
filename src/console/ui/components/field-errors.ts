import { ApiProblem } from '../api.ts'

/** A sentence for each bad field, by the last part of its path: `email` of `newPerson.email`. */
export function fieldErrors(error: unknown): Record<string, string> {
  if (!(error instanceof ApiProblem)) return {}
  return Object.fromEntries(
    error.fields.map(({ field, message }) => [field.split('.').at(-1) ?? field, sentenceOf(field, message)]),
  )
}

/** The names of fields on pages; the service's messages are sentences without a subject. */
const subjects: Record<string, string> = {
  id: 'It',
  name: 'The name',
  email: 'The email address',
  password: 'The password',
  currentPassword: 'The current password',
  newPassword: 'The new password',
  scope: 'The access',
  role: 'The role',
  isOn: 'This',
  expiresAt: 'The day',
  allowedIps: 'An allowed address',
  allowedOrigins: 'A web page',
  url: 'The URL',
  code: 'The code',
  number: 'The number',
  callId: 'The call',
  calls: 'The calls',
  reason: 'The reason',
  text: 'The text',
  description: 'The description',
  confirm: 'The text you typed',
  question: 'The question',
  key: 'The key',
  choices: 'Choices',
  instructions: 'The text',
  days: 'The number',
  retainDays: 'The number',
  recordingRetainDays: 'The number',
  country: 'The country',
  timeZone: 'The time zone',
  minUserTurns: 'The number',
  minDuration: 'The duration',
  share: 'The share',
  tokensPerMonth: 'The budget',
  criteria: 'The list',
  fields: 'The list',
  webhook: 'The destination',
}

/** A message with its subject: the field's name, or its path when it has none. */
export function sentenceOf(field: string, message: string): string {
  const subject = field
    .split('.')
    .flatMap((part) => subjects[part] ?? [])
    .at(-1)
  return `${subject ?? field} ${message}`
}
