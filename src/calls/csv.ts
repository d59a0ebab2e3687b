import type { CallField } from './fields.ts'
import type { Call } from './schemas.ts'

/** Whether a field is a column: transcripts and analyses are no cells. */
export function isColumn(field: CallField): field is Exclude<CallField, 'transcript' | 'callAnalysis'> {
  return field !== 'transcript' && field !== 'callAnalysis'
}

export type CsvCall = Omit<Call, 'transcript' | 'callAnalysis'>
