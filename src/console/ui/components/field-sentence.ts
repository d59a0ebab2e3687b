/** What fields are called on pages; the service's messages are sentences without their subject. */
const subjects: Record<string, string> = {
  id: 'It',
  name: 'The name',
  email: 'The e-mail address',
  password: 'The password',
  currentPassword: 'The current password',
  newPassword: 'The new password',
  expiresAt: 'The day',
  allowedIps: 'An allowed address',
  confirm: 'What was typed',
}

/** A message with its subject, which is found in the field's path; the path itself when no page has a name for it. */
export function sentenceOf(field: string, message: string): string {
  const subject = field
    .split('.')
    .flatMap((part) => subjects[part] ?? [])
    .at(-1)
  return `${subject ?? field} ${message}`
}
