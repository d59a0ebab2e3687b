import type { Work } from '../threads/time-slices.ts'
import { type RedactionCounts, type RedactionKind, redactionKinds } from './kinds.ts'

/** What a project's settings say of redaction. */
export interface RedactionSettings {
  readonly redact: readonly RedactionKind[]
  readonly country: string | null
  /** How much of `callerNumber` and `calledNumber` is stored. */
  readonly keepNumbers: 'all' | 'last4' | 'none'
}

/** Replaces what is not to be stored, and adds how much it was to `counts`. @param label see `redact` */
export type RedactText = (text: string, label: string, counts: RedactionCounts) => Work<string>

/**
 * Marks what was replaced in a text that is read again, and counted, before it becomes part of a call. The first
 * character differs from other marks and cannot occur in speech.
 */
const openMark = '\ue000'
const openMarks = new RegExp(`${openMark}(${redactionKinds.join('|')})\\]`, 'g')

export function isRedacting({ redact, keepNumbers }: RedactionSettings): boolean {
  return redact.length > 0 || keepNumbers !== 'all'
}

/** Redacts by a project's settings. */
export function redactor(settings: RedactionSettings): Promise<RedactText> {
  return withMarks(settings, (kind) => `[${kind}]`)
}

/** Also counts what `openRedactor` replaced. Only for text from sources, because only they may write its marks. */
export function countingOpenMarks(redact: RedactText): RedactText {
  return (text, label, counts) => {
    if (!text.includes(openMark)) return redact(text, label, counts)
    const closed = text.replace(openMarks, (_, kind: RedactionKind) => {
      counts[kind] = (counts[kind] ?? 0) + 1
      return `[${kind}]`
    })
    return redact(closed, label, counts)
  }
}

/** Redacts what is kept to be read again, with marks that `countingOpenMarks` counts then. */
export function openRedactor(settings: RedactionSettings): Promise<RedactText> {
  return withMarks(settings, (kind) => `${openMark}${kind}]`)
}

/** Loads the libraries where they are needed: they take 15 MB. */
async function withMarks(
  { redact: kinds, country }: RedactionSettings,
  mark: (kind: RedactionKind) => string,
): Promise<RedactText> {
  if (kinds.length === 0) return asItIs
  const { redact } = await import('./redact.ts')
  return function* (text, label, counts) {
    const redacted = yield* redact(text, { kinds, country, mark }, label)
    for (const [kind, count] of Object.entries(redacted.counts) as [RedactionKind, number][]) {
      counts[kind] = (counts[kind] ?? 0) + count
    }
    return redacted.text
  }
}

function* asItIs(text: string): Work<string> {
  yield
  return text
}

/** As much of a caller's number as is stored: `…4120` of the last four digits. Words such as `anonymous` stay. */
export function keptNumber(number: string, { keepNumbers }: RedactionSettings): string | null {
  if (keepNumbers === 'all' || /^[a-z]+$/i.test(number)) return number
  const digits = number.replace(/\D/g, '')
  // Of an address such as alice@example.com nothing is left.
  return keepNumbers === 'last4' && digits !== '' && !/\p{L}/u.test(number) ? `…${digits.slice(-4)}` : null
}
