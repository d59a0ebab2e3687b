import type { Work } from '../threads/time-slices.ts'

/** Redacts every string in a JSON value. `redact` gets the string and its key. Keys and numbers stay. */
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
    members.push([key, yield* redactStrings(member, redact, key)])
  }
  return Object.fromEntries(members)
}
