import type { ReadDatabase } from '../../db/reader.ts'
import { calls } from '../../db/schema.ts'
import { notFound } from '../../errors.ts'
import type { Figures } from '../figures/figures.ts'
import type { Grouping } from '../figures/question.ts'
import { type CallFilter, callFilters, metadataPrefix, noValue, prefixOf } from '../filters.ts'
import type { CallQuery } from './call-query.ts'
import { flagText } from './call-values.ts'
import { metadataValue } from './metadata-values.ts'
import { readSearchBox } from './search-box.ts'

/** How many calls have each value of a filter, as text. */
export interface FacetCounts {
  counts: Record<string, number>
}

/**
 * Counts the values of one filter among the calls that the other filters leave.
 * @throws not_found for a filter whose values cannot be counted; invalid_request for a query that cannot be read
 */
export async function countValues(
  { db, figures }: { db: ReadDatabase; figures: Pick<Figures, 'ask'> },
  projectId: number,
  name: string,
  query: CallQuery,
): Promise<FacetCounts> {
  const filter = callFilters.find((one) => one.name === name)
  const grouping = filter ? groupingOf(filter) : groupingOfMetadata(name)
  if (!grouping) throw notFound('There is no such filter, or its values cannot be counted.')
  const { [name]: _, order: __, cursor: ___, ...others } = query
  const { search } = await readSearchBox(db, projectId, others)
  const question = { of: null, by: [grouping], percents: [] }
  const { groups } = await figures.ask(db, projectId, search, question, { mayBeOld: true })
  const none = filter?.kind === 'mark' ? 'false' : noValue
  return { counts: Object.fromEntries(groups.map(({ names: [value], calls }) => [value ?? none, calls])) }
}

function groupingOfMetadata(name: string): Grouping | null {
  const isKey = prefixOf(name) === metadataPrefix
  return isKey ? { kind: 'value', column: metadataValue(name), isSparse: true } : null
}

function groupingOf(filter: CallFilter): Grouping | null {
  switch (filter.kind) {
    case 'choice':
    case 'value':
      return { kind: 'value', column: `calls.${calls[filter.column].name}` }
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
