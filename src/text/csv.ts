const lineEnd = '\r\n'
/** The mark by which Excel knows UTF-8. */
export const byteOrderMark = '\ufeff'

/** A line of RFC 4180. */
export function csvLine(cells: readonly (string | number | boolean | null)[]): string {
  return `${cells.map(toCell).join(',')}${lineEnd}`
}

/**
 * Spreadsheets treat such cells as formulas, some even after white space, and some the full-width signs:
 * https://owasp.org/www-community/attacks/CSV_Injection
 */
const formula = /^(\t|\s*[=+@＝＋＠－-])/
/**
 * Signs that stand first in a cell for a program that separates cells by semicolons or tabs, as Excel does in much of
 * Europe: it takes our quotation marks for text, and line ends for the end of a row.
 */
const innerFormula = /(?<=[;\t\r\n][\s"]*)[=+@＝＋＠－-]/g
/** At least seven digits, and no two signs in a row: what else begins with a plus may be computed. */
const phoneNumber = /^(?!.*[+./-]{2})(?=(?:\D*\d){7})\+[\d ().\-/]+$/

function toCell(value: string | number | boolean | null): string {
  const text = String(value ?? '')
  const isFormula = formula.test(text) && !phoneNumber.test(text)
  const harmless = `${isFormula ? "'" : ''}${text.replace(innerFormula, "'$&")}`
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless
}
