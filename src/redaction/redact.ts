import { isSupportedCountry } from 'libphonenumber-js/max'
import type { Work } from '../threads/time-slices.ts'
import { numberWord } from './digits.ts'
import { findEmails } from './emails.ts'
import { apart, merged } from './found.ts'
import { findIbans } from './ibans.ts'
import type { Found, RedactionCounts, RedactionKind } from './kinds.ts'
import { findNumbers } from './numbers.ts'
import { withPlainCharacters } from './plain-characters.ts'

/** Which kinds are replaced, and how national phone numbers read; without a country only international ones do. */
export interface RedactionOptions {
  kinds: readonly RedactionKind[]
  country: string | null
  /** What stands for it; by default `[phone]`. It must end with `]`. */
  mark?: (kind: RedactionKind) => string
}

/** Most texts have nothing to replace: neither three digits in a row, nor digits spelled as words, nor an address. */
const quickLook = new RegExp(
  String.raw`\d\D{0,6}\d\D{0,6}\d|@|\b${numberWord}\W{1,3}(?:\d|${numberWord}\b)|\b(?:dot|period|point)\b|\bat [a-z-]+\.`,
  'i',
)
/** In a longer text they are looked for without it. */
const quickLookCharsMax = 65_536
/** One pass is nearly always enough: a mark separates what it stands between as what it replaces does. */
const passesMax = 8

/**
 * The text with each phone number, card number, email address, IBAN and US social-security number replaced by its
 * mark, such as `[phone]`. Pure; the same text again changes nothing. Takes time linear in the text.
 * @param label what the text is, such as the key of a JSON member: `orderId` tells an order number from a phone number
 */
export function* redact(
  text: string,
  { kinds, country, mark = (kind) => `[${kind}]` }: RedactionOptions,
  label = '',
): Work<{ text: string; counts: RedactionCounts }> {
  const counts: RedactionCounts = {}
  let redacted = text
  for (let pass = 0; pass < passesMax; pass++) {
    const plain = yield* withPlainCharacters(redacted)
    if (plain.length <= quickLookCharsMax && !quickLook.test(plain)) break
    const found = (yield* findAll(plain, country, label)).filter(({ kind }) => kinds.includes(kind))
    if (found.length === 0) break
    for (const { kind } of found) counts[kind] = (counts[kind] ?? 0) + 1
    redacted = yield* replaced(redacted, found, ({ kind }) => mark(kind))
  }
  return { text: redacted, counts }
}

/** What is found is the same whichever kinds are replaced, so a card is never taken for a phone. */
function* findAll(text: string, country: string | null, label: string): Work<Found[]> {
  const others = yield* apart(yield* merged(yield* findEmails(text), yield* findIbans(text)))
  // No number reaches into them, or is judged by what stands before them.
  const masked = yield* replaced(text, others, ({ start, end }) => ']'.repeat(end - start))
  const known = country !== null && isSupportedCountry(country) ? country : null
  const numbers = yield* findNumbers(masked, { country: known, label })
  return yield* apart(yield* merged(others, numbers))
}

function* replaced(text: string, found: readonly Found[], by: (one: Found) => string): Work<string> {
  let at = 0
  const parts: string[] = []
  for (const one of found) {
    yield
    parts.push(text.slice(at, one.start), by(one))
    at = one.end
  }
  return parts.join('') + text.slice(at)
}
