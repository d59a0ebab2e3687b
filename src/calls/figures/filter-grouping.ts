import { calls } from '../../db/schema.ts'
import { type CallFilter, callFilters, metadataPrefix, prefixOf } from '../filters.ts'
import { flagText } from '../finding/call-values.ts'
import { metadataValue } from '../finding/metadata-values.ts'
import type { Grouping } from './question.ts'

/** Groups calls as the values of a filter find them; null for a filter without such values. */
export function groupingOf(name: string): Grouping | null {
  // No filter: why a sound is unmeasured, or else its state.
  if (name === 'soundReason')
    return { kind: 'value', column: "coalesce(calls.sound ->> '$.reason', calls.sound ->> '$.state')" }
  const filter = callFilters.find((one) => one.name === name)
  if (filter) return groupingOfFilter(filter)
  const prefix = prefixOf(name)
  if (prefix === undefined) return null
  if (prefix === metadataPrefix) return { kind: 'value', column: metadataValue(name), isSparse: true }
  return { kind: 'value', entries: name }
}

function groupingOfFilter(filter: CallFilter): Grouping | null {
  switch (filter.kind) {
    case 'choice':
    case 'value': {
      const column = `calls.${calls[filter.column].name}`
      return { kind: 'value', column, ...('more' in filter && { entries: 'otherAgentId' }) }
    }
    case 'flag':
      return { kind: 'value', column: flagText(calls[filter.column].name) }
    case 'listed':
    case 'given':
    case 'mark':
      return { kind: 'value', entries: filter.name, hasNone: true }
    default:
      return null
  }
}
