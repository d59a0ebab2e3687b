import { type CallFilter, type FilterName, noValue } from '../../../../calls/filters.ts'
import { frameworkLabels, platformLabels } from '../../../../sources/labels.ts'
import { asReason } from '../../components/reason.ts'

/** The others are set by the address alone, or together with one of these. */
type FilterWithPill = Extract<
  CallFilter,
  { kind: 'choice' | 'value' | 'flag' | 'mark' | 'digits' | 'least' | 'equal' | 'label' } | { name: 'from' }
>

/** What the console calls a filter. */
export const filterLabels: Record<FilterWithPill['name'], string> = {
  status: 'Status',
  evaluation: 'Evaluation',
  isEngaged: 'Engaged',
  from: 'Date',
  minDuration: 'Duration',
  number: 'Number',
  endedReason: 'End reason',
  source: 'Source',
  agentId: 'Agent',
  label: 'Label',
  reviewed: 'Reviewed',
  flagged: 'Flagged',
  noted: 'Note',
}

const valueLabels: { [Name in FilterName]?: Record<string, string> } = {
  status: { live: 'Live', completed: 'Completed' },
  evaluation: { success: 'Success', fail: 'Failed', [noValue]: 'Not evaluated' },
  endedReason: { [noValue]: 'No reason' },
  source: { ...platformLabels, ...frameworkLabels },
  isEngaged: { true: 'Engaged', false: 'Not engaged' },
  reviewed: { true: 'Reviewed', false: 'Not reviewed' },
  flagged: { true: 'A turn is flagged', false: 'No turn is flagged' },
  noted: { true: 'Has a note', false: 'Has no note' },
}

/** What the console calls a value; any other value is shown verbatim. */
export function valueLabel(name: FilterName, value: string): string {
  if (name === 'endedReason' && value !== noValue) return asReason(value)
  const labels = valueLabels[name] ?? {}
  return (Object.hasOwn(labels, value) && labels[value]) || value
}
