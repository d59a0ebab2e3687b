import { type CallFilter, callFilters, type FilterName } from '../../../../calls/filters.ts'
import { textParam } from '../../search-params.ts'

/** What the list of calls is narrowed to, as the address holds it. */
export type ChosenFilters = {
  [Filter in CallFilter as Filter['name']]?: Filter extends { choices: readonly (infer Choice)[] }
    ? Choice
    : string
}

/** Filters to set, and with undefined to clear. */
export type FilterChange = { [Name in FilterName]?: string | undefined }

/** Reads the address and leaves out what makes no sense. */
export function readFilters(search: Record<string, unknown>): ChosenFilters {
  return withoutEmpty(
    Object.fromEntries(callFilters.map((filter) => [filter.name, readFilter(filter, search[filter.name])])),
  )
}

export function isFiltered(filters: ChosenFilters): boolean {
  return Object.keys(withoutEmpty(filters)).length > 0
}

/** The same filters have the same name, in whatever order they were set. */
export function nameOf(filters: ChosenFilters): string {
  return JSON.stringify(Object.entries(withoutEmpty(filters)).sort(([a], [b]) => (a < b ? -1 : 1)))
}

function withoutEmpty<T extends object>(values: T): T {
  return Object.fromEntries(
    Object.entries(values).filter(([, value]) => value !== undefined && value !== ''),
  ) as T
}

function readFilter(filter: CallFilter, value: unknown): string | undefined {
  const text = textParam(value)
  if (!text?.trim()) return undefined
  if ('choices' in filter) return filter.choices.find((choice) => choice === text)
  if (filter.kind === 'digits') return /\d/.test(text) ? text : undefined
  if (filter.kind === 'least' || filter.kind === 'most') return /^\d+(\.\d+)?$/.test(text) ? text : undefined
  return filter.kind === 'since' || filter.kind === 'before' ? toInstant(text) : text
}

/** In UTC, so that a shared link means the same calls in every time zone. */
function toInstant(text: string): string | undefined {
  const date = new Date(text)
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString()
}
