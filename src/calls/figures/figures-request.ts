import { type FieldError, invalidRequest } from '../../errors.ts'
import { zoneName } from '../../text/zone.ts'
import { type analysisPrefix, type criterionPrefix, type metadataPrefix, prefixOf } from '../filters.ts'
import {
  type CallQuery,
  type CallSearch,
  checkParameters,
  problemOf,
  readCallSearch,
  valuesOf,
} from '../finding/call-query.ts'
import { shows as allShows, type Measure, measureOf, measures, type Show } from './measures.ts'
import { timeUnits } from './time-groups.ts'

/** What calls are grouped by, beside `analysis.KEY`, `metadata.KEY` and `criterion.ID`. */
export const groupings = [
  ...timeUnits,
  'duration',
  ...(['agentId', 'agentVersion', 'source', 'endedReason', 'evaluation', 'isEngaged'] as const),
  ...(['direction', 'label'] as const),
] as const
/** Of these there are many in a year. */
const spans: readonly GroupedBy[] = ['hour', 'day', 'week', 'month']
const figureParameters = ['of', 'show', 'by', 'timeZone']
export type GroupedBy =
  | (typeof groupings)[number]
  | `${typeof analysisPrefix | typeof criterionPrefix | typeof metadataPrefix}${string}`

export interface FiguresRequest {
  of: string
  measure: Measure
  show: Show
  /** At most two. */
  by: readonly GroupedBy[]
  /** Undefined if it was not sent. */
  zone: string | undefined
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
  const by =
    read(
      'by',
      toGroupings,
      `${listed(groupings, 'analysis.KEY', 'metadata.KEY', 'criterion.ID')}, or two of these, at most one of them of ${listed(spans)}`,
    ) ?? []
  const zone = read('timeZone', (text) => zoneName(text) ?? undefined, 'a time zone such as Europe/Berlin')
  // A figure is of all calls, not of a page.
  const { cursor: _, order: __, ...filters } = query
  const orders = { orders: ['createdAt'], readCursor: () => undefined } as const
  const search = readCallSearch({ ...filters, order: 'createdAt' }, orders, errors)
  if (errors.length > 0) throw invalidRequest(errors)
  return { of, measure, show: show ?? first, by, zone, search }
}

function listed(names: readonly string[], ...more: string[]): string {
  return [...names, ...more].join(' or ')
}

function toMeasure(of: string): { of: string; measure: Measure } | undefined {
  const measure = of === prefixOf(of) ? undefined : measureOf(of)
  return measure && { of, measure }
}

export function isOfTime(by: GroupedBy): by is (typeof timeUnits)[number] {
  return timeUnits.some((unit) => unit === by)
}

function toGroupings(text: string): GroupedBy[] | undefined {
  const names = text.split(',')
  const by = names.flatMap((name) => toGrouping(name) ?? [])
  if (by.length !== names.length || by.length > 2 || by[0] === by[1]) return undefined
  return by.filter((one) => spans.some((span) => span === one)).length <= 1 ? by : undefined
}

function toGrouping(text: string): GroupedBy | undefined {
  const prefix = prefixOf(text)
  const isMember = (name: string): name is `${typeof analysisPrefix}${string}` =>
    prefix !== undefined && name !== prefix
  return isMember(text) ? text : groupings.find((each) => each === text)
}
