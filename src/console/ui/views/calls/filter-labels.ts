import { type CallFilter, type FilterName, noValue } from '../../../../calls/filters.ts'

/** The others are set by the address alone, or together with one of these. */
type FilterWithPill = Extract<CallFilter, { kind: 'choice' | 'value' | 'flag' | 'digits' } | { name: 'from' }>

/** What the console calls a filter. */
export const filterLabels: Record<FilterWithPill['name'], string> = {
  status: 'Status',
  evaluation: 'Evaluation',
  isEngaged: 'Engaged',
  from: 'Date',
  number: 'Number',
  endedReason: 'Ended',
}

const valueLabels: { [Name in FilterName]?: Record<string, string> } = {
  status: { live: 'Live', completed: 'Completed' },
  evaluation: { success: 'Success', fail: 'Fail', [noValue]: 'Not evaluated' },
  endedReason: { [noValue]: 'No reason' },
  isEngaged: { true: 'Engaged', false: 'Not engaged' },
}

/** What the console calls a value; any other value is shown verbatim. */
export function valueLabel(name: FilterName, value: string): string {
  const labels = valueLabels[name] ?? {}
  return (Object.hasOwn(labels, value) && labels[value]) || value
}
