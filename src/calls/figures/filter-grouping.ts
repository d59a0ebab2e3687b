import { calls } from '../../db/schema.ts'
import type { CallFilter } from '../filters.ts'
import type { Grouping } from './question.ts'

/** Groups calls as the values of a filter find them; null for a filter without such values. */
export function groupingOf(filter: CallFilter): Grouping | null {
  switch (filter.kind) {
    case 'choice':
    case 'value': {
      const column = `calls.${calls[filter.column].name}`
      return { kind: 'value', column, ...('more' in filter && { entries: 'otherAgentId' }) }
    }
    case 'flag':
      return { kind: 'value', column: `iif(calls.${calls[filter.column].name}, 'true', 'false')` }
    case 'listed':
    case 'given':
    case 'mark':
      return { kind: 'value', entries: filter.name, hasNone: true }
    default:
      return null
  }
}
