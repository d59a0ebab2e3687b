/**
 * Whether what a request says of a field replaces what is stored. A late event, older than the newest one that was
 * merged, only fills what is still empty.
 */
export function replaces(given: unknown, stored: unknown, isLate: boolean): boolean {
  return given !== undefined && !(isLate && (isEmpty(given) || !isEmpty(stored)))
}

/** Nothing is known yet: what a late event may still fill in. A duration of 0 says that nothing is known. */
function isEmpty(value: unknown): boolean {
  if (value === null || value === '' || value === 0) return true
  if (Array.isArray(value)) return value.length === 0
  return typeof value === 'object' && Object.keys(value).length === 0
}
