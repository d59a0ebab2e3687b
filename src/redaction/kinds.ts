/** What can be replaced before a call is stored. */
export const redactionKinds = ['phone', 'email', 'card', 'iban', 'ssn'] as const
export type RedactionKind = (typeof redactionKinds)[number]

/** How many of each kind were replaced. A kind without any is absent. */
export type RedactionCounts = Partial<Record<RedactionKind, number>>

/** Something in a text that can be replaced, and where it stands. */
export interface Finding {
  kind: RedactionKind
  start: number
  end: number
}
