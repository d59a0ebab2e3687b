import type { FiguresOfCalls } from '../../../../calls/figures/figures.ts'
import { type FilterName, prefixOf } from '../../../../calls/filters.ts'
import { type Dates, dayLabel } from '../../components/dates.ts'
import { type ChosenFilters, type ManyFilter, valuesOf } from '../calls/chosen-filters.ts'
import { valueLabel } from '../calls/filter-labels.ts'
import type { Chart } from './chart-search.ts'

const hourMs = 3_600_000
/** With more, their labels are days. */
const hoursMax = 48

/** A group of calls. */
export interface Group {
  key: string
  /** In a sentence. */
  name: string
  /** Where there is little room. */
  label: string
  value: number | null
  calls: number
  /** Of exactly its calls; null where no filters find these. */
  filters: ChosenFilters | null
}

interface Grouped extends Pick<Chart, 'by' | 'show'> {
  /** The filters of all groups, as the API takes them. */
  filters: ChosenFilters
  dates: Dates
  /** Names of agents by their ids. */
  agents: ReadonlyMap<string, string>
}

/** The groups of metrics, with what a chart says of them. */
export function groupsOf(
  data: FiguresOfCalls['data'],
  { by, show, filters, dates, agents }: Grouped,
): Group[] {
  return data.map(({ key, value, calls }, at) => {
    const text = key ?? ''
    const next = data[at + 1]?.key
    return {
      key: text,
      ...namesOf(by, text, dates, agents),
      ...(by === 'hour' && data.length > hoursMax ? { label: dates.day(text, Date.now()) } : {}),
      value: value === null || show !== 'failed' ? value : 1 - value,
      calls,
      filters: filtersOf(by, text, next ?? undefined, filters, dates),
    }
  })
}

function namesOf(by: string, key: string, dates: Dates, agents: Grouped['agents']) {
  if (by === 'day') return { name: dayLabel(key, { weekday: 'short' }), label: dayLabel(key) }
  if (by === 'hour') return { name: dates.moment(key), label: dates.time(key) }
  const name = agents.get(key) ?? (prefixOf(by) ? key : valueLabel(by as FilterName, key))
  return { name, label: name }
}

/** @param next the key of the group after it: groups of time have no holes */
function filtersOf(
  by: string,
  key: string,
  next: string | undefined,
  filters: ChosenFilters,
  dates: Dates,
): ChosenFilters | null {
  if (by === 'day') return within(filters, dates.rangeOf(key))
  if (by === 'hour') {
    const to = next ?? new Date(Date.parse(key) + hourMs).toISOString()
    return within(filters, { from: key, to })
  }
  const name = by as ManyFilter['name']
  const chosen = valuesOf(filters[name])
  // A call has several labels and agents: no filters find those with one of some labels and another one.
  return chosen.length > 0 && !chosen.includes(key) ? null : { ...filters, [name]: key }
}

/** The part of the filters' period that is in a group's: the first and the last group may be cut. */
function within(filters: ChosenFilters, { from, to }: { from: string; to: string }): ChosenFilters {
  const first = filters.from !== undefined && filters.from > from ? filters.from : from
  const last = filters.to !== undefined && filters.to < to ? filters.to : to
  return { ...filters, from: first, to: last }
}
