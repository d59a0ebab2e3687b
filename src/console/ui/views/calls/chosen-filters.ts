import {
  type analysisPrefix,
  type CallFilter,
  callFilters,
  criterionPrefix,
  type metadataPrefix,
  prefixOf,
  verdicts,
} from '../../../../calls/filters.ts'
import type { Dates } from '../../components/dates.ts'
import { wholeParam, wordParam } from '../../search-params.ts'
import { rangeOfRelative, relativeDateNames, relativeDateOf } from './date-ranges.ts'

/** Filters of which any of several values may be chosen. */
export type ManyFilter = Extract<CallFilter, { kind: 'value' | 'given' | 'listed' }>

const valuesMax = 20
const charsMax = 500
/** How much of an unreadable value is shown. */
const shownCharsMax = 40

/** A filter that names something of the project's own: a field of the analysis or of metadata, or a criterion. */
export type OwnFilter = `${typeof analysisPrefix | typeof metadataPrefix | typeof criterionPrefix}${string}`

/** A value, or any of several. */
type OneOrMore = string | string[]

/** The filters and the order of the list of calls, as in the URL, including what cannot be read. */
export type ChosenFilters = {
  [Filter in CallFilter as Filter['name']]?: Filter extends ManyFilter ? OneOrMore : string
} & {
  [Name in OwnFilter]?: OneOrMore
} & {
  order?: string
  /** A set of calls, such as a queue of reviews: no other calls are listed. */
  set?: string
  /** A period that moves on with the days, in place of `from` and `to`: see date-ranges.ts. */
  date?: string
}

/** How the list is sorted; without one, newest first. */
export type Order = keyof typeof orders
export const orders = {
  createdAt: 'Oldest first',
  '-duration': 'Longest first',
  duration: 'Shortest first',
  '-cost': 'Most expensive first',
  cost: 'Cheapest first',
  '-latency': 'Slowest first',
  latency: 'Fastest first',
  criteria: 'Fewest criteria passed first',
  '-criteria': 'Most criteria passed first',
}

/** Filters to set, and with undefined to clear. */
export type FilterChange = { [Name in keyof ChosenFilters]?: OneOrMore | undefined }

/** Reads the URL. Unreadable values are kept, so that `faultsOf` can report them. */
export function readFilters(search: Record<string, unknown>): ChosenFilters {
  const own = Object.keys(search).filter((name) => prefixOf(name) !== undefined)
  const date = readOne(search.date)
  return withoutEmpty(
    Object.fromEntries([
      ...callFilters.map((filter) => [filter.name, readFilter(filter, search[filter.name])]),
      ...own.map((name) => [name, readMany(search[name])]),
      ['order', readOne(search.order)],
      ['set', readOne(search.set)],
      ...(date === undefined ? [] : [['date', date] as const, ...bounds]),
    ]),
  )
}

/** A relative date has bounds of its own. */
const bounds = [
  ['from', undefined],
  ['to', undefined],
] as const

/** An unreadable value, so that no call matches. */
export interface Fault {
  name: keyof ChosenFilters
  /** Such as `“abc” is not a number`. */
  message: string
}

/** The faults in the URL. */
export function faultsOf(filters: ChosenFilters): Fault[] {
  return Object.entries(filters).flatMap(([name, value]) => {
    const values = valuesOf(value)
    const faulty = values.find((text) => problemOf(name, text) !== undefined)
    const problem = faulty !== undefined && problemOf(name, faulty)
    if (problem) return [{ name: name as Fault['name'], message: `“${shortened(faulty)}” ${problem}` }]
    const isTooMany = values.length > valuesMax
    return isTooMany
      ? [{ name: name as Fault['name'], message: `${values.length} values are more than ${valuesMax}` }]
      : []
  })
}

/** The filters that can be read. */
export function withoutFaults(filters: ChosenFilters, faults: readonly Fault[]): ChosenFilters {
  return Object.fromEntries(
    Object.entries(filters).filter(([name]) => !faults.some((fault) => fault.name === name)),
  )
}

export function isFiltered({ order: _, ...filters }: ChosenFilters): boolean {
  return Object.keys(withoutEmpty(filters)).length > 0
}

/** A key that is equal for equal filters, in whatever order they were set. */
export function filterKey(filters: ChosenFilters): string {
  return JSON.stringify(Object.entries(withoutEmpty(filters)).sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** As the API takes filters. It knows how long ago something was heard of a live call. */
export type ResolvedFilters = ChosenFilters & { silent?: string }

/**
 * The filters with instants in place of a relative date, and live calls without silent ones. A date that cannot be read
 * stays.
 */
export function resolveFilters(
  { date, ...filters }: ChosenFilters,
  dates: Dates,
  now: number,
): ResolvedFilters {
  const resolved = { ...filters, ...resolveStatus(filters.status) }
  if (date === undefined) return resolved
  const relative = relativeDateOf(date)
  return relative ? { ...resolved, ...rangeOfRelative(relative, dates, now) } : { ...resolved, date }
}

function resolveStatus(status: string | undefined): Pick<ResolvedFilters, 'status' | 'silent'> {
  if (status === 'silent') return { status: 'live', silent: 'true' }
  return status === 'live' ? { status, silent: 'false' } : {}
}

/** The chosen values of a filter. */
export function valuesOf(values: OneOrMore | undefined): string[] {
  return values === undefined ? [] : [values].flat()
}

/** Values as in the URL. */
export function oneOrMore(values: readonly string[]): OneOrMore | undefined {
  return values.length > 1 ? [...values] : values[0]
}

function withoutEmpty<T extends object>(values: T): T {
  return Object.fromEntries(
    Object.entries(values).filter(([, value]) => value !== undefined && value !== ''),
  ) as T
}

function readMany(value: unknown): OneOrMore | undefined {
  const texts = [value].flat().flatMap((one) => String(one ?? '').trim() || [])
  return oneOrMore([...new Set(texts)])
}

function readOne(value: unknown): string | undefined {
  const text = [value].flat().at(-1)
  return typeof text === 'string' && text.trim() ? text : undefined
}

function readFilter(filter: CallFilter, value: unknown): OneOrMore | undefined {
  if (isMany(filter)) return readMany(value)
  const text = readOne(value)
  return text && isTime(filter) ? (toInstant(text) ?? text) : text
}

function problemOf(name: string, text: string): string | undefined {
  if (text.length > charsMax) return `is longer than ${charsMax} characters`
  if (name === 'date') return relativeDateOf(text) ? undefined : `is not ${relativeDateNames.join(' or ')}`
  if (name === 'order') return Object.hasOwn(orders, text) ? undefined : 'is not an order'
  const filter = callFilters.find((one) => one.name === name)
  const choices =
    name === 'status' ? statuses : filter && 'choices' in filter ? filter.choices : choicesOf(name)
  if (choices) return choices.some((choice) => choice === text) ? undefined : `is not ${choices.join(' or ')}`
  if (!filter) return undefined
  if (filter.kind === 'digits') return /^[^,]*\d[^,]*$/.test(text) ? undefined : 'is not a number'
  if (filter.kind === 'least' || filter.kind === 'most')
    return /^\d+(\.\d+)?$/.test(text) ? undefined : 'is not a number'
  return isTime(filter) && toInstant(text) === undefined ? 'is not a date' : undefined
}

/** A live call of which nothing was heard for half an hour is silent. */
export const statuses = ['live', 'silent', 'completed'] as const

function choicesOf(name: string): readonly string[] | undefined {
  return prefixOf(name) === criterionPrefix ? verdicts : undefined
}

function isTime({ kind }: CallFilter): boolean {
  return kind === 'since' || kind === 'before'
}

function shortened(text: string): string {
  return text.length > shownCharsMax ? `${text.slice(0, shownCharsMax)}…` : text
}

function isMany(filter: CallFilter): filter is ManyFilter {
  return filter.kind === 'value' || filter.kind === 'given' || filter.kind === 'listed'
}

/** The filters with a prefix that are set. */
export function ownFilters(filters: ChosenFilters, prefix: ReturnType<typeof prefixOf>): OwnFilter[] {
  return Object.keys(filters).filter((name): name is OwnFilter => prefixOf(name) === prefix)
}

/** In UTC, so that a shared link means the same calls in every time zone. */
function toInstant(text: string): string | undefined {
  const date = new Date(text)
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString()
}

/** The URL's parameters of an open call. */
export interface OpenTab {
  /** The transcript without one. */
  tab?: 'analysis' | 'raw'
  /** The call as a page of its own; beside the list without one. */
  view?: 'page'
  /** The moment of the recording, in seconds. */
  t?: number
}

const momentMax = 604_800

/** Reads the URL; invalid values are left out. */
export function readOpenTab(search: Record<string, unknown>): OpenTab {
  const tab = wordParam(search.tab, ['analysis', 'raw'] as const)
  const view = wordParam(search.view, ['page'] as const)
  const t = wholeParam(search.t, { min: 1, max: momentMax })
  return { ...(tab && { tab }), ...(view && { view }), ...(t !== undefined && { t }) }
}
