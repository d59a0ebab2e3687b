import {
  criterionPrefix,
  durationBounds,
  type FilterName,
  noValue,
  prefixOf,
  verdicts,
} from '../../../../calls/filters.ts'
import { type Dates, dayLabel, plusDays, plusMonths } from '../../components/dates.ts'
import { shortDuration } from '../../components/figures.ts'
import { type ChosenFilters, type ManyFilter, valuesOf } from '../calls/chosen-filters.ts'
import { valueLabel, verdictWords } from '../calls/filter-labels.ts'
import { groupingsOf, isOrdered, isSum, shown } from './chart.ts'
import type { Figures } from './chart-queries.ts'
import type { Chart } from './chart-search.ts'

const hourMs = 3_600_000
/** With more, their labels are days. */
const hoursMax = 48
/** With more kinds of parts, those with the fewest calls are one, or left out where they cannot be added up. */
const kindsMax = 6
/** A Monday. */
const monday = '2024-01-01'

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
  /** By the second grouping, in the order of all; without one, it is its own part. */
  parts: Part[]
}

/** What a group has of one of the second grouping's values. */
export interface Part extends Kind {
  value: number | null
  calls: number
  filters: ChosenFilters | null
}

/** A value of the second grouping. */
export interface Kind {
  key: string
  name: string
  label: string
  /** How it is drawn. */
  look: string
}

interface Grouped extends Chart {
  /** The filters of all groups, as the API takes them. */
  filters: ChosenFilters
  dates: Dates
  /** Names of agents by their ids. */
  agents: ReadonlyMap<string, string>
}

/**
 * The groups of figures, with what a chart says of them: those that have no order of their own by their value.
 * @param pairs by both groupings, if there are two
 */
export function groupsOf(data: Figures, grouped: Grouped, pairs: Figures | null = null): Group[] {
  const { by, show, filters: ofAll, dates } = grouped
  const [first] = groupingsOf(by)
  const groups = data.map(({ key, value, calls }, at) => {
    const text = key ?? ''
    const next = data[at + 1]?.key ?? undefined
    const names = namesOf(first, text, grouped)
    const filters = filtersOf(first, text, ofAll, dates, next)
    const own = { key: text, value: shown(show, value), calls, filters }
    return {
      ...own,
      ...names,
      ...(first === 'hour' && data.length > hoursMax ? { label: dates.day(text, Date.now()) } : {}),
      parts: pairs ? [] : [{ ...own, ...names, look: 'only' }],
    }
  })
  const whole = pairs ? withParts(groups, pairs, grouped) : groups
  return isOrdered(first) ? whole : whole.toSorted((a, b) => (b.value ?? -1) - (a.value ?? -1))
}

/** All kinds of parts that groups have, in their order. */
export function kindsOf(groups: readonly Group[]): Kind[] {
  return [...new Map(groups.flatMap(({ parts }) => parts).map((part) => [part.key, part])).values()].sort(
    (a, b) => rankOf(a) - rankOf(b),
  )
}

function withParts(groups: readonly Group[], pairs: Figures, grouped: Grouped): Group[] {
  const { by, show, dates } = grouped
  const [, second = ''] = groupingsOf(by)
  const kinds = new Map(findKinds(second, pairs, grouped).map((kind) => [kind.key, kind]))
  return groups.map((group) => {
    const rows = pairs.filter(({ keys }) => keys?.[0] === group.key)
    const parts = [...kinds.values()].flatMap((kind) => {
      const row = rows.find(({ keys }) => keys?.[1] === kind.key)
      // A heat map has all hours of a day.
      if (!row && !isOrdered(second)) return []
      const { value, calls } = row ?? { value: isSum(grouped) ? 0 : null, calls: 0 }
      const filters = group.filters && filtersOf(second, kind.key, group.filters, dates)
      return [{ ...kind, value: shown(show, value), calls, filters }]
    })
    const rest = rows.filter(({ keys }) => !kinds.has(keys?.[1] ?? ''))
    const sum = (name: 'value' | 'calls') => rest.reduce((total, row) => total + (row[name] ?? 0), 0)
    const others = { ...otherKinds, value: sum('value'), calls: sum('calls'), filters: null }
    const whole = rest.length > 0 && isSum(grouped) ? [...parts, others] : parts
    return { ...group, parts: whole.sort((a, b) => rankOf(a) - rankOf(b)) }
  })
}

const otherKinds: Kind = { key: '', name: 'Others', label: 'Others', look: 'others' }

/** The values of the second grouping: with an order of their own all, else those with the most calls. */
function findKinds(by: string, pairs: Figures, grouped: Grouped): Kind[] {
  const calls = new Map<string, number>()
  for (const row of pairs) {
    const key = row.keys?.[1] ?? ''
    calls.set(key, (calls.get(key) ?? 0) + row.calls)
  }
  const byCalls = [...calls].sort(([, a], [, b]) => b - a).map(([key]) => key)
  const keys = all[by] ?? (isOrdered(by) ? byCalls.sort(inOrder) : byCalls.slice(0, kindsMax))
  const ofValue = looks[prefixOf(by) === criterionPrefix ? 'criterion' : by]
  return keys.map((key, at) => ({
    key,
    ...namesOf(by, key, grouped),
    look: ofValue?.[key] ?? String(at),
  }))
}

/** Dates as texts, the others as numbers. */
function inOrder(a: string, b: string): number {
  return Number(a) - Number(b) || (a < b ? -1 : 1)
}

/** Those of which all are shown. */
const all: Record<string, string[]> = {
  hourOfDay: Array.from({ length: 24 }, (_, hour) => String(hour).padStart(2, '0')),
  weekday: ['1', '2', '3', '4', '5', '6', '7'],
}
/** From below: what failed stands on the ground, where it can be compared; the others by their calls. */
const looks: Record<string, Record<string, string>> = {
  evaluation: { fail: 'fail', success: 'success', [noValue]: 'none' },
  criterion: { fail: 'fail', pass: 'success', unknown: 'none' },
  isEngaged: { true: 'success', [noValue]: 'none' },
}
const ranks: Record<string, number> = { fail: -1, others: 99, success: 100, none: 101 }

function rankOf({ look }: Kind): number {
  return ranks[look] ?? Number(look)
}

function namesOf(
  by: string,
  key: string,
  { dates, agents }: Pick<Grouped, 'dates' | 'agents'>,
): { name: string; label: string } {
  switch (by) {
    case 'hour':
      return { name: dates.moment(key), label: dates.time(key) }
    case 'day':
      return { name: dayLabel(key, { weekday: 'short' }), label: dayLabel(key) }
    case 'week':
      return { name: `Week from ${dayLabel(key, { year: 'numeric' })}`, label: dayLabel(key) }
    case 'month':
      return bothAs(dayLabel(`${key}-01`, { month: 'short', year: 'numeric' }, {}))
    case 'weekday': {
      const day = plusDays(monday, Number(key) - 1)
      return { name: dayLabel(day, { weekday: 'long' }, {}), label: dayLabel(day, { weekday: 'short' }, {}) }
    }
    case 'hourOfDay':
      return { name: `${key}:00`, label: key }
    case 'duration':
      return { name: describeLength(Number(key)), label: shortDuration(Number(key)) }
  }
  const verdict = prefixOf(by) === criterionPrefix && verdicts.find((one) => one === key)
  if (verdict) return bothAs(verdictWords[verdict])
  return bothAs(agents.get(key) ?? (prefixOf(by) ? key : valueLabel(by as FilterName, key)))
}

function bothAs(name: string): { name: string; label: string } {
  return { name, label: name }
}

/** `1m to 2m`, `over 30m`: from (included), to (not included), in seconds. */
function describeLength(from: number): string {
  const to = durationBounds.find((bound) => bound > from)
  if (to === undefined) return `over ${shortDuration(from)}`
  return from === 0 ? `under ${shortDuration(to)}` : `${shortDuration(from)} to ${shortDuration(to)}`
}

/** @param next the key of the hour after it, which may be shorter than others */
function filtersOf(
  by: string,
  key: string,
  filters: ChosenFilters,
  dates: Dates,
  next = new Date(Date.parse(key) + hourMs || 0).toISOString(),
): ChosenFilters | null {
  switch (by) {
    case 'hour':
      return within(filters, { from: key, to: next })
    case 'day':
      return within(filters, dates.rangeOf(key))
    case 'week':
      return within(filters, dates.rangeOf(key, plusDays(key, 6)))
    case 'month':
      return within(filters, dates.rangeOf(`${key}-01`, plusDays(plusMonths(`${key}-01`, 1), -1)))
    case 'weekday':
    case 'hourOfDay':
      return null
    case 'duration':
      return 'minDuration' in filters || 'maxDuration' in filters ? null : lasting(filters, Number(key))
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

/** The filter includes its bound, which belongs to the next group. So it gets the next smaller number. */
function lasting(filters: ChosenFilters, from: number): ChosenFilters {
  const to = durationBounds.find((bound) => bound > from)
  const most = to === undefined ? {} : { maxDuration: String(to * (1 - Number.EPSILON / 2)) }
  return { ...filters, status: 'completed', minDuration: String(from), ...most }
}
