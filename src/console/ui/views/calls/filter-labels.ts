import type { CallFilter, FilterName } from '../../../../calls/filters.ts'

type FilterWithPill = Exclude<CallFilter, { kind: 'before' | 'present' | 'words' }>

/** What the console calls a filter. */
export const filterLabels: Record<FilterWithPill['name'], string> = {
  status: 'Status',
  evaluation: 'Evaluation',
  engaged: 'Engaged',
  from: 'Date',
  number: 'Number',
  endedReason: 'Ended',
}

const valueLabels: { [Name in FilterName]?: Record<string, string> } = {
  status: { live: 'Live', completed: 'Completed' },
  evaluation: { success: 'Success', fail: 'Fail' },
  evaluated: { false: 'Not evaluated' },
  engaged: { true: 'Engaged', false: 'Not engaged' },
}

/** What the console calls a value; any other value is shown verbatim. */
export function valueLabel(name: FilterName, value: string): string {
  const labels = valueLabels[name] ?? {}
  return (Object.hasOwn(labels, value) && labels[value]) || value
}
