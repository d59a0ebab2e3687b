import type { SQLiteTable } from 'drizzle-orm/sqlite-core'
import type * as schema from './schema.ts'

export type TableName = {
  [Name in keyof typeof schema]: (typeof schema)[Name] extends SQLiteTable
    ? (typeof schema)[Name]['_']['name']
    : never
}[keyof typeof schema]

/** The columns that name a row of a table: a row that the later state does not have was erased. */
interface Shrunk {
  shrunkBy: string
}

/**
 * How each table of a restored database comes to be without what was erased:
 * - `taken`: from the later state, as it is. Who may do what, where things go, what was used, what is being deleted.
 * - `shrunkBy`: rows that the later state does not have are deleted.
 * - `compared`: by a statement in restore-erasures.ts.
 * - `follows`: rows are deleted with their call, item, run or question.
 * - `derived`: triggers keep it, without words of records, but for what the next start of the service erases.
 * - `emptied`: what was on its way at the time of the backup, and must not happen again.
 * Tables stand before those that refer to them.
 */
export const restoreRules = {
  projects: 'compared',
  people: 'taken',
  accounts: 'taken',
  two_factors: 'taken',
  members: 'taken',
  sign_in_limits: 'taken',
  sessions: 'emptied',
  verifications: 'emptied',
  invitations: 'emptied',
  meta: 'taken',
  keys: 'taken',
  holds: 'taken',
  call_views: 'taken',
  call_sets: 'taken',
  erasures: 'taken',
  alerts: 'taken',
  alert_changes: 'taken',
  webhooks: 'taken',
  webhook_queue: 'emptied',
  webhook_attempts: 'emptied',
  sources: 'taken',
  source_imports: 'taken',
  source_failures: { shrunkBy: 'seq' },
  audit_events: { shrunkBy: 'seq' },
  erasure_requests: 'taken',
  erasure_slices: 'taken',
  project_erasures: 'compared',
  calls: 'compared',
  call_documents: 'follows',
  call_parts: 'follows',
  call_details: 'compared',
  cases: { shrunkBy: 'seq' },
  call_sessions: 'emptied',
  calls_without_words: 'follows',
  call_segments: 'derived',
  word_removals: 'derived',
  recordings: 'compared',
  recording_fetches: 'compared',
  recording_removals: 'derived',
  rubrics: 'taken',
  analysis_usage: 'taken',
  analysis_pauses: 'taken',
  analysis_runs: 'compared',
  analysis_queue: 'compared',
  analysis_slices: 'compared',
  knowledge_items: 'compared',
  item_tags: 'derived',
  idempotent_creates: 'compared',
  chunks: 'follows',
  chunk_segments: 'derived',
  questions: { shrunkBy: 'seq' },
  question_states: 'follows',
  golden_questions: { shrunkBy: 'seq' },
  golden_runs: { shrunkBy: 'seq' },
} satisfies Record<TableName, 'taken' | 'compared' | 'follows' | 'derived' | 'emptied' | Shrunk>
