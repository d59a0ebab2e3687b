const lineEnd = '\r\n'

/** A line of RFC 4180. */
export function csvLine(cells: readonly (string | number | boolean | null)[]): string {
  return `${cells.map(toCell).join(',')}${lineEnd}`
}

/**
 * Spreadsheets treat such cells as formulas, some even after white space:
 * https://owasp.org/www-community/attacks/CSV_Injection
 */
const formula = /^\s*[=+@-]/
const phoneNumber = /^\+\d[\d ().\-/]*$/

function toCell(value: string | number | boolean | null): string {
  const text = String(value ?? '')
  const harmless = formula.test(text) && !phoneNumber.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless
}
