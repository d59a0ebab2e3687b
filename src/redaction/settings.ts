import type { Work } from '../threads/time-slices.ts'
import { type RedactionCounts, type RedactionKind, redactionKinds } from './kinds.ts'

/** A project's redaction settings. */
export interface RedactionSettings {
  readonly redact: readonly RedactionKind[]
  readonly country: string | null
  /** How much of `callerNumber` and `calledNumber` is stored. */
  readonly keepNumbers: 'all' | 'last4' | 'none'
}

/** Replaces what must not be stored, and adds the numbers of replacements to `counts`. @param label see `redact` */
export type RedactText = (text: string, label: string, counts: RedactionCounts) => Work<string>

/**
 * Begins a mark in text that is stored until it becomes part of a call. Its replacements are counted only then, so its
 * marks must differ from others: they begin with a private-use character, which no speech has.
 */
const interimMark = '\ue000'
const interimMarks = new RegExp(`${interimMark}(${redactionKinds.join('|')})\\]`, 'g')

export function isRedacting({ redact, keepNumbers }: RedactionSettings): boolean {
  return redact.length > 0 || keepNumbers !== 'all'
}

/** The function that redacts by a project's settings. */
export function redactor(settings: RedactionSettings): Promise<RedactText> {
  return withMarks(settings, (kind) => `[${kind}]`)
}

/** Also counts the marks of `interimRedactor` and makes them plain. Not for clients' text: it could fake such marks. */
export function countingInterimMarks(redact: RedactText): RedactText {
  return (text, label, counts) => {
    if (!text.includes(interimMark)) return redact(text, label, counts)
    const finalText = text.replace(interimMarks, (_, kind: RedactionKind) => {
      counts[kind] = (counts[kind] ?? 0) + 1
      return `[${kind}]`
    })
    return redact(finalText, label, counts)
  }
}

/** As `redactor`, for text that is not yet part of a call. `countingInterimMarks` counts its replacements later. */
export function interimRedactor(settings: RedactionSettings): Promise<RedactText> {
  return withMarks(settings, (kind) => `${interimMark}${kind}]`)
}

/** Loads the libraries only if they are needed: they take 15 MB. */
async function withMarks(
  { redact: kinds, country }: RedactionSettings,
  mark: (kind: RedactionKind) => string,
): Promise<RedactText> {
  if (kinds.length === 0) return asItIs
  const { redact } = await import('./redact.ts')
  return function* (text, label, counts) {
    const result = yield* redact(text, { kinds, country, mark }, label)
    for (const [kind, count] of Object.entries(result.counts) as [RedactionKind, number][]) {
      counts[kind] = (counts[kind] ?? 0) + count
    }
    return result.text
  }
}

function* asItIs(text: string): Work<string> {
  yield
  return text
}

/** The part of a caller's number that is stored, such as `…4120` for `last4`. Words such as `anonymous` stay. */
export function keptNumber(number: string, { keepNumbers }: RedactionSettings): string | null {
  if (keepNumbers === 'all' || /^[a-z]+$/i.test(number)) return number
  const digits = number.replace(/\D/g, '')
  // An address such as alice@example.com has no digits to keep.
  return keepNumbers === 'last4' && digits !== '' && !/\p{L}/u.test(number) ? `…${digits.slice(-4)}` : null
}
