/** A JSON value with each string as `redact` gives it, which is told the key of the string. Keys and numbers stay. */
export function redactStrings<Value>(
  value: Value,
  redact: (text: string, label: string) => string,
  label?: string,
): Value
export function redactStrings(
  value: unknown,
  redact: (text: string, label: string) => string,
  label = '',
): unknown {
  if (typeof value === 'string') return redact(value, label)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((entry) => redactStrings(entry, redact, label))
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key, redactStrings(member, redact, key)]),
  )
}
