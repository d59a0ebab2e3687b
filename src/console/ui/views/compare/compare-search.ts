import { parseSearch, stringifySearch, textParam, wordParam } from '../../search-params.ts'
import { type ChosenFilters, readFilters } from '../calls/chosen-filters.ts'

/** What is compared, as in the address: the versions of an agent, or two groups of calls. */
export interface CompareSearch {
  by?: 'filters'
  agentId?: string
  /** The version that the others are compared with. */
  against?: string
  /** The filters of each group, as the address of the list has them. */
  a?: string
  b?: string
  /** Figures as the API takes them. */
  of?: string
}

/** Reads the address; what is not known is left out. */
export function compareSearch(search: Record<string, unknown>): CompareSearch {
  const by = wordParam(search.by, ['filters'] as const)
  const texts = (['agentId', 'against', 'a', 'b', 'of'] as const).flatMap((name) => {
    const text = textParam(search[name])
    return text === undefined ? [] : [[name, text]]
  })
  return { ...(by && { by }), ...Object.fromEntries(texts) }
}

export function toFilters(text = ''): ChosenFilters {
  return readFilters(parseSearch(text))
}

export function toText(filters: object): string {
  return stringifySearch({ ...filters }).slice(1)
}
