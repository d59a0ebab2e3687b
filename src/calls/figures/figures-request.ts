import { type FieldError, invalidRequest } from '../../errors.ts'
import { clockOf, zoneName } from '../../text/zone.ts'
import { analysisPrefix, prefixOf } from '../filters.ts'
import {
  type CallQuery,
  type CallSearch,
  checkParameters,
  problemOf,
  readCallSearch,
  valuesOf,
} from '../finding/call-query.ts'
import { shows as allShows, type Measure, measureOf, measures, type Show } from './measures.ts'

/** What calls are grouped by, beside `analysis.KEY`. */
export const groupings = [
  ...(['day', 'hour', 'agentId', 'agentVersion', 'source', 'endedReason', 'evaluation'] as const),
  ...(['direction', 'label'] as const),
] as const
const figureParameters = ['of', 'show', 'by', 'timeZone']
type Grouping = (typeof groupings)[number] | `${typeof analysisPrefix}${string}`

export interface FiguresRequest {
  of: string
  measure: Measure
  show: Show
  by: Grouping | null
  /** The clock of the time zone; undefined if it was not sent. */
  aheadAt: ((at: number) => number) | undefined
  /** In the order of time. */
  search: CallSearch
}

/** @throws invalid_request naming every parameter that cannot be read */
export function readFiguresRequest(query: CallQuery): FiguresRequest {
  const errors: FieldError[] = []
  const read = <Value>(field: string, toValue: (text: string) => Value | undefined, wanted: string) => {
    const [text] = valuesOf(query, field) ?? []
    if (text === undefined) return undefined
    const problem = problemOf([text])
    const value = problem ? undefined : toValue(text)
    if (value === undefined) errors.push({ field, message: problem ?? `must be ${wanted}` })
    return value
  }
  checkParameters(query, figureParameters, errors)
  const asked = read('of', toMeasure, listed(Object.keys(measures), 'analysis.KEY', 'criterion.ID'))
  const { of, measure } = asked ?? { of: 'calls', measure: measures.calls }
  const [first, ...others] = measure.shows
  // Of what is not known, any may be shown.
  const shows: readonly Show[] = errors.length > 0 ? allShows : measure.shows
  const show = read('show', (text) => shows.find((each) => each === text), `${listed(shows)}, of ${of}`)
  if (query.show === undefined && others.length > 0)
    errors.push({ field: 'show', message: `is required: ${listed(shows)}` })
  const by = read('by', toGrouping, listed(groupings, 'analysis.KEY')) ?? null
  const aheadAt = read('timeZone', toClock, 'a time zone such as Europe/Berlin')
  // A figure is of all calls, not of a page.
  const { cursor: _, order: __, ...filters } = query
  const orders = { orders: ['createdAt'], readCursor: () => undefined } as const
  const search = readCallSearch({ ...filters, order: 'createdAt' }, orders, errors)
  if (errors.length > 0) throw invalidRequest(errors)
  return { of, measure, show: show ?? first, by, aheadAt, search }
}

function listed(names: readonly string[], ...more: string[]): string {
  return [...names, ...more].join(' or ')
}

function toMeasure(of: string): { of: string; measure: Measure } | undefined {
  const measure = of === prefixOf(of) ? undefined : measureOf(of)
  return measure && { of, measure }
}

function toGrouping(text: string): Grouping | undefined {
  const isMember = (name: string): name is `${typeof analysisPrefix}${string}` =>
    name.startsWith(analysisPrefix) && name !== analysisPrefix
  return isMember(text) ? text : groupings.find((each) => each === text)
}

function toClock(zone: string): ((at: number) => number) | undefined {
  return zoneName(zone) === null ? undefined : (clockOf(zone) ?? undefined)
}
