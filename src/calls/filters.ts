import type { calls } from '../db/schema.ts'

type Column = keyof typeof calls.$inferSelect

type FilterDefinition = { name: string } & (
  | { kind: 'choice'; column: Column; choices: readonly string[] }
  /** Any text; the values in use are offered. */
  | { kind: 'value'; column: Column }
  /** Whether the column has a value. */
  | { kind: 'present'; column: Column; choices: typeof trueOrFalse }
  | { kind: 'flag'; column: Column; choices: typeof trueOrFalse }
  /** ISO 8601 times: at or after, and before. */
  | { kind: 'since' | 'before'; column: Column }
  /** Digits that one of the columns begins or ends with. */
  | { kind: 'digits'; columns: readonly Column[] }
  /** Words of the transcript or the summary. */
  | { kind: 'words' }
)

const trueOrFalse = ['true', 'false'] as const

/**
 * The filters of a list of calls, in the order the console offers them. The request's schema, its parser, the SQL, the
 * facets and the console's address and form are all made from this list, so the page imports this file too.
 */
export const callFilters = [
  { name: 'status', kind: 'choice', column: 'status', choices: ['live', 'completed'] },
  { name: 'evaluation', kind: 'value', column: 'evaluation' },
  { name: 'evaluated', kind: 'present', column: 'evaluation', choices: trueOrFalse },
  { name: 'engaged', kind: 'flag', column: 'isEngaged', choices: trueOrFalse },
  { name: 'from', kind: 'since', column: 'createdAt' },
  { name: 'to', kind: 'before', column: 'createdAt' },
  { name: 'number', kind: 'digits', columns: ['callerDigits', 'calledDigits'] },
  { name: 'endedReason', kind: 'value', column: 'endedReason' },
  { name: 'text', kind: 'words' },
] as const satisfies readonly FilterDefinition[]

export type CallFilter = (typeof callFilters)[number]
export type FilterName = CallFilter['name']
/** A filter whose values are offered to choose from. */
export type ValueFilter = Extract<CallFilter, { kind: 'value' }>
