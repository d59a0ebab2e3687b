/**
 * Whether a field of a change replaces the stored one. A late event, older than the newest merged one, only fills empty
 * fields.
 */
export function replaces(given: unknown, stored: unknown, isLate: boolean): boolean {
  return given !== undefined && !(isLate && (isEmpty(given) || !isEmpty(stored)))
}

/** Whether a late event may fill the field. A duration of 0 means unknown. */
function isEmpty(value: unknown): boolean {
  if (value === null || value === '' || value === 0) return true
  if (Array.isArray(value)) return value.length === 0
  return typeof value === 'object' && Object.keys(value).length === 0
}
