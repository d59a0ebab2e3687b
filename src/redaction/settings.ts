import { isSupportedCountry } from 'libphonenumber-js/max'
import { type RedactionCounts, type RedactionKind, redactionKinds } from './kinds.ts'
import { redact } from './redact.ts'

/** What a project's settings say of redaction. */
export interface RedactionSettings {
  readonly redact: readonly RedactionKind[]
  readonly country: string | null
  /** How much of `callerNumber` and `calledNumber` is stored. */
  readonly keepNumbers: 'all' | 'last4' | 'none'
}

/** Replaces what is not to be stored. @param label see `redact` */
export type RedactText = (text: string, label?: string) => string

/**
 * What was replaced in something that is read again before it becomes part of a call, where it is to be counted: a
 * mark with another first character, which nobody can have said.
 */
const openMark = '\ue000'
const openMarks = new RegExp(`${openMark}(${redactionKinds.join('|')})\\]`, 'g')

export function isRedacting({ redact, keepNumbers }: RedactionSettings): boolean {
  return redact.length > 0 || keepNumbers !== 'all'
}

/** Redacts by a project's settings, and adds what it replaces to `counts`; also what was replaced by `openRedactor`. */
export function redactor({ redact: kinds, country }: RedactionSettings, counts: RedactionCounts): RedactText {
  const options = { kinds, country: supported(country) }
  const add = (kind: RedactionKind, count: number) => {
    counts[kind] = (counts[kind] ?? 0) + count
  }
  return (text, label) => {
    const settled = text.includes(openMark)
      ? text.replace(openMarks, (_, kind: RedactionKind) => {
          add(kind, 1)
          return `[${kind}]`
        })
      : text
    if (kinds.length === 0) return settled
    const redacted = redact(settled, options, label)
    for (const kind of redactionKinds) if (redacted.counts[kind]) add(kind, redacted.counts[kind])
    return redacted.text
  }
}

/** Redacts what is kept to be read again, with marks that `redactor` counts then. */
export function openRedactor({ redact: kinds, country }: RedactionSettings): RedactText {
  const options = { kinds, country: supported(country), mark: (kind: RedactionKind) => `${openMark}${kind}]` }
  return (text, label) => (kinds.length === 0 ? text : redact(text, options, label).text)
}

/** As much of a caller's number as is stored: `…4120` of the last four digits. Words such as `anonymous` stay. */
export function keptNumber(number: string, { keepNumbers }: RedactionSettings): string | null {
  if (keepNumbers === 'all' || /^[a-z]+$/i.test(number)) return number
  const digits = number.replace(/\D/g, '')
  // Of an address such as alice@example.com nothing is left.
  return keepNumbers === 'last4' && digits !== '' && !/\p{L}/u.test(number) ? `…${digits.slice(-4)}` : null
}

function supported(country: string | null) {
  return country !== null && isSupportedCountry(country) ? country : null
}
