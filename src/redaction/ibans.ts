import { countrySpecs, isValidIBAN } from 'ibantools'
import type { Work } from '../threads/time-slices.ts'
import type { Finding } from './kinds.ts'
import { matchesIn } from './matches.ts'

const start = /(?<![\p{L}\p{N}])[a-z]{2}[ \u00a0-]?\d{2}(?=[ \u00a0-]?[a-z0-9])/giu
/** Room for the longest IBAN, 34 characters, with a separator after each. */
const spanCharsMax = 80

/** The IBANs in a text, grouped or not, with the right length, form and check digits (ISO 13616, mod 97). */
export function* findIbans(text: string): Work<Finding[]> {
  const findings: Finding[] = []
  for (const match of matchesIn(text, start)) {
    yield
    const index = match?.index
    const end = index === undefined ? null : endOf(text, index)
    if (index !== undefined && end !== null) findings.push({ kind: 'iban', start: index, end })
  }
  return findings
}

function endOf(text: string, start: number): number | null {
  const chars = countrySpecs[text.slice(start, start + 2).toUpperCase()]?.chars
  if (!chars) return null
  let iban = ''
  let at = start
  for (; iban.length < chars && at < start + spanCharsMax; at++) {
    const char = text.charAt(at)
    if (/[a-z0-9]/i.test(char)) iban += char.toUpperCase()
    else if (!/[ \u00a0\u202f-]/.test(char)) return null
  }
  const isWhole = !/[\p{L}\p{N}]/u.test(text.charAt(at))
  return isWhole && isValidIBAN(iban) ? at : null
}
