/** What can be replaced before a call is stored. */
export const redactionKinds = ['phone', 'email', 'card', 'iban', 'ssn'] as const
export type RedactionKind = (typeof redactionKinds)[number]

/** How many of each kind were replaced; kinds of which there were none are absent. */
export type RedactionCounts = Partial<Record<RedactionKind, number>>

/** Where something that can be replaced stands in a text. */
export interface Found {
  kind: RedactionKind
  start: number
  end: number
}
