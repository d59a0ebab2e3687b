import { isSupportedCountry } from 'libphonenumber-js/max'
import type { Work } from '../threads/time-slices.ts'
import { numberWord } from './digits.ts'
import { findEmails } from './emails.ts'
import { findIbans } from './ibans.ts'
import type { Finding, RedactionCounts, RedactionKind } from './kinds.ts'
import { findNumbers } from './numbers.ts'

export interface RedactionOptions {
  /** What to replace. */
  kinds: readonly RedactionKind[]
  /** Whose national phone numbers to find; null finds international and American ones. */
  country: string | null
  /** The replacement, `[phone]` by default. It must end with `]`. */
  mark?: (kind: RedactionKind) => string
}

/** Matches every text that may have something to replace. Most texts have not: no digits, number words or addresses. */
const quickLook = new RegExp(
  String.raw`\d\D{0,6}\d\D{0,6}\d|@|\b${numberWord}\W{1,3}(?:\d|${numberWord}\b)|\b(?:dot|period|point)\b|\bat [a-z-]+\.`,
  'i',
)
/** Longer texts skip the quick look, which cannot pause. */
const quickLookCharsMax = 65_536
/** A replacement can reveal another finding beside it. Nearly always, the second pass finds nothing. */
const passesMax = 8

/**
 * Replaces each phone number, card number, email address, IBAN and US social-security number by its mark, such as
 * `[phone]`. Pure and idempotent, in linear time.
 * @param label what the text is, such as the key of a JSON member: under `orderId`, digits are not a phone number
 */
export function* redact(
  text: string,
  { kinds, country, mark = (kind) => `[${kind}]` }: RedactionOptions,
  label = '',
): Work<{ text: string; counts: RedactionCounts }> {
  const counts: RedactionCounts = {}
  let result = text
  for (let pass = 0; pass < passesMax; pass++) {
    const plain = yield* withPlainCharacters(result)
    if (plain.length <= quickLookCharsMax && !quickLook.test(plain)) break
    const findings = (yield* findAll(plain, country, label)).filter(({ kind }) => kinds.includes(kind))
    if (findings.length === 0) break
    for (const { kind } of findings) counts[kind] = (counts[kind] ?? 0) + 1
    result = yield* replace(result, findings, ({ kind }) => mark(kind))
  }
  return { text: result, counts }
}

/** Finds all kinds, whichever are replaced: otherwise a card could be taken for a phone number. */
function* findAll(text: string, country: string | null, label: string): Work<Finding[]> {
  const others = yield* withoutOverlaps([...(yield* findEmails(text)), ...(yield* findIbans(text))])
  // Masked, so that no number overlaps them and no context reaches beyond them.
  const masked = yield* replace(text, others, ({ start, end }) => ']'.repeat(end - start))
  const supportedCountry = country !== null && isSupportedCountry(country) ? country : null
  const numbers = yield* findNumbers(masked, { country: supportedCountry, label })
  return yield* withoutOverlaps([...others, ...numbers])
}

/** In the order of the text; of two that overlap the one that starts first, or else the longer. */
function* withoutOverlaps(all: Finding[]): Work<Finding[]> {
  const findings: Finding[] = []
  let end = 0
  for (const one of all.sort((a, b) => a.start - b.start || b.end - a.end)) {
    yield
    if (one.start < end) continue
    findings.push(one)
    end = one.end
  }
  return findings
}

function* replace(text: string, findings: readonly Finding[], by: (one: Finding) => string): Work<string> {
  let at = 0
  const parts: string[] = []
  for (const one of findings) {
    yield
    parts.push(text.slice(at, one.start), by(one))
    at = one.end
  }
  return parts.join('') + text.slice(at)
}

const charsAtOnceMax = 16_384
/** Digits of other scripts, full-width characters, tabs and spaces of other widths. */
const unusual = /[\uff01-\uff5e\t\u2000-\u200a\u202f\u205f\u3000]|(?![0-9\ud800-\udfff])\p{Nd}/gu
const fullWidthOffset = 0xfee0

/** The text in ASCII where an equivalent exists, such as `4` for `４` and `٤`. Its length stays the same. */
function* withPlainCharacters(text: string): Work<string> {
  const parts: string[] = []
  for (let at = 0; at < text.length; at += charsAtOnceMax) {
    yield
    parts.push(text.slice(at, at + charsAtOnceMax).replace(unusual, plain))
  }
  return parts.join('')
}

function plain(char: string): string {
  const code = char.charCodeAt(0)
  if (char.length > 1) return char
  if (code >= 0xff01 && code <= 0xff5e) return String.fromCharCode(code - fullWidthOffset)
  if (!/\p{Nd}/u.test(char)) return ' '
  // In Unicode, the zero of each script has a code that ends in hexadecimal 0 or 6.
  const zero = /\p{Nd}/u.test(String.fromCharCode(code & ~15)) ? 0 : 6
  return String((code & 15) - zero)
}
