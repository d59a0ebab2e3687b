import { analysisPrefix, type CallFilter, callFilters } from '../../../../calls/filters.ts'
import { textParam } from '../../search-params.ts'

/** Filters of which any of several values may be chosen. */
export type ManyFilter = Extract<CallFilter, { kind: 'value' | 'equal' | 'label' }>

const valuesMax = 20

/** A value, or any of several. */
export type OneOrMore = string | string[]

/** What the list of calls is narrowed to and how it is sorted, as the address holds it. */
export type ChosenFilters = {
  [Filter in CallFilter as Filter['name']]?: Filter extends { choices: readonly (infer Choice)[] }
    ? Choice
    : Filter extends ManyFilter
      ? OneOrMore
      : string
} & {
  [Name in `${typeof analysisPrefix}${string}`]?: OneOrMore
} & { order?: Order }

/** How the list is sorted; without one, newest first. */
export type Order = (typeof orders)[number]
export const orders = ['createdAt', '-duration', 'duration'] as const

/** Filters to set, and with undefined to clear. */
export type FilterChange = { [Name in keyof ChosenFilters]?: OneOrMore | undefined }

/** Reads the address and leaves out what makes no sense. */
export function readFilters(search: Record<string, unknown>): ChosenFilters {
  const ofAnalysis = Object.keys(search).filter((name) => name.startsWith(analysisPrefix))
  return withoutEmpty(
    Object.fromEntries([
      ...callFilters.map((filter) => [filter.name, readFilter(filter, search[filter.name])]),
      ...ofAnalysis.map((name) => [name, readMany(search[name])]),
      ['order', orders.find((order) => order === search.order)],
    ]),
  )
}

export function isFiltered({ order: _, ...filters }: ChosenFilters): boolean {
  return Object.keys(withoutEmpty(filters)).length > 0
}

/** The same filters have the same name, in whatever order they were set. */
export function nameOf(filters: ChosenFilters): string {
  return JSON.stringify(Object.entries(withoutEmpty(filters)).sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** The chosen values of a filter. */
export function valuesOf(values: OneOrMore | undefined): string[] {
  return values === undefined ? [] : [values].flat()
}

/** Values as the address holds them. */
export function oneOrMore(values: readonly string[]): OneOrMore | undefined {
  return values.length > 1 ? [...values] : values[0]
}

function withoutEmpty<T extends object>(values: T): T {
  return Object.fromEntries(
    Object.entries(values).filter(([, value]) => value !== undefined && value !== ''),
  ) as T
}

function readMany(value: unknown): OneOrMore | undefined {
  const texts = [value].flat().flatMap((one) => textParam(String(one ?? ''))?.trim() || [])
  return oneOrMore([...new Set(texts)].slice(0, valuesMax))
}

function readFilter(filter: CallFilter, value: unknown): OneOrMore | undefined {
  if (isMany(filter)) return readMany(value)
  const text = textParam([value].flat().at(-1))
  if (!text?.trim()) return undefined
  if ('choices' in filter) return filter.choices.find((choice) => choice === text)
  if (filter.kind === 'digits') return /\d/.test(text) ? text : undefined
  if (filter.kind === 'least' || filter.kind === 'most') return /^\d+(\.\d+)?$/.test(text) ? text : undefined
  return filter.kind === 'since' || filter.kind === 'before' ? toInstant(text) : text
}

function isMany(filter: CallFilter): filter is ManyFilter {
  return filter.kind === 'value' || filter.kind === 'equal' || filter.kind === 'label'
}

/** The keys of the analysis that are filtered by. */
export function analysisNames(filters: ChosenFilters): `${typeof analysisPrefix}${string}`[] {
  return Object.keys(filters).filter((name): name is `${typeof analysisPrefix}${string}` =>
    name.startsWith(analysisPrefix),
  )
}

/** In UTC, so that a shared link means the same calls in every time zone. */
function toInstant(text: string): string | undefined {
  const date = new Date(text)
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString()
}
