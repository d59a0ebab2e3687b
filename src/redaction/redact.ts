import type { CountryCode } from 'libphonenumber-js/max'
import { numberWord } from './digits.ts'
import { findEmails } from './emails.ts'
import { findIbans } from './ibans.ts'
import type { Found, RedactionCounts, RedactionKind } from './kinds.ts'
import { findNumbers } from './numbers.ts'

/** Which kinds are replaced, and how national phone numbers read; without a country only international ones do. */
export interface RedactionOptions {
  kinds: readonly RedactionKind[]
  country: CountryCode | null
  /** What stands for it; by default `[phone]`. It must end with `]`. */
  mark?: (kind: RedactionKind) => string
}

/** Most texts have nothing to replace: neither three digits in a row, nor digits spelled as words, nor an address. */
const quickLook = new RegExp(
  String.raw`\d\D{0,6}\d\D{0,6}\d|@|\b${numberWord}\W{1,3}(?:\d|${numberWord}\b)|\b(?:dot|period|point)\b|\bat [a-z-]+\.`,
  'i',
)
/** One pass is nearly always enough: a mark separates what it stands between as what it replaces does. */
const passesMax = 8

/**
 * The text with each phone number, card number, e-mail address, IBAN and US social-security number replaced by its
 * mark, such as `[phone]`. Pure; the same text again changes nothing. Takes time linear in the text.
 * @param label what the text is, such as the key of a JSON member: `orderId` tells an order number from a phone number
 */
export function redact(
  text: string,
  { kinds, country, mark = (kind) => `[${kind}]` }: RedactionOptions,
  label = '',
): { text: string; counts: RedactionCounts } {
  const counts: RedactionCounts = {}
  let redacted = text
  for (let pass = 0; pass < passesMax && quickLook.test(redacted); pass++) {
    const found = findAll(redacted, country, label).filter(({ kind }) => kinds.includes(kind))
    if (found.length === 0) break
    for (const { kind } of found) counts[kind] = (counts[kind] ?? 0) + 1
    redacted = replaced(redacted, found, ({ kind }) => mark(kind))
  }
  return { text: redacted, counts }
}

/** What is found is the same whichever kinds are replaced, so a card is never taken for a phone. */
function findAll(text: string, country: CountryCode | null, label: string): Found[] {
  const others = inOrder([...findEmails(text), ...findIbans(text)])
  // No number reaches into them, or is judged by what stands before them.
  const masked = replaced(text, others, ({ start, end }) => ']'.repeat(end - start))
  return inOrder([...others, ...findNumbers(masked, { country, label })])
}

/** Without those that overlap another. */
function inOrder(found: readonly Found[]): Found[] {
  let end = 0
  return [...found]
    .sort((a, b) => a.start - b.start || b.end - a.end)
    .filter((one) => {
      const isFree = one.start >= end
      if (isFree) end = one.end
      return isFree
    })
}

function replaced(text: string, found: readonly Found[], by: (one: Found) => string): string {
  let at = 0
  const parts: string[] = []
  for (const one of found) {
    parts.push(text.slice(at, one.start), by(one))
    at = one.end
  }
  return parts.join('') + text.slice(at)
}
