import type { Work } from '../threads/time-slices.ts'

/**
 * Redacts every string in a JSON value. `redact` gets the string and the key that tells what it is. Keys and numbers
 * stay.
 */
export function redactStrings<Value>(
  value: Value,
  redact: (text: string, label: string) => Work<string>,
  label?: string,
): Work<Value>
export function* redactStrings(
  value: unknown,
  redact: (text: string, label: string) => Work<string>,
  label = '',
): Work<unknown> {
  yield
  if (typeof value === 'string') return yield* redact(value, label)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    const entries: unknown[] = []
    for (const entry of value) entries.push(yield* redactStrings(entry, redact, label))
    return entries
  }
  const members: [string, unknown][] = []
  for (const [key, member] of Object.entries(value)) {
    // `text` would read as what people say before a phone number, but it is only where the words are.
    members.push([key, yield* redactStrings(member, redact, key === 'text' ? label : key)])
  }
  return Object.fromEntries(members)
}
