import { textParam, wordParam } from '../../search-params.ts'

/** What the list of calls is narrowed to, as the address holds it. */
export interface ChosenFilters {
  status?: 'live' | 'completed'
  /** As ingested. */
  evaluation?: string
  evaluated?: 'true' | 'false'
  engaged?: 'true' | 'false'
  endedReason?: string
  /** Instants, so that a shared link means the same calls in every time zone: from included, to not. */
  from?: string
  to?: string
  number?: string
  text?: string
}

/** Reads the address; whatever it cannot mean is left out. */
export function readFilters(search: Record<string, unknown>): ChosenFilters {
  return withoutEmpty({
    status: wordParam(search.status, ['live', 'completed'] as const),
    evaluation: text(search.evaluation),
    evaluated: wordParam(search.evaluated, ['true', 'false'] as const),
    engaged: wordParam(search.engaged, ['true', 'false'] as const),
    endedReason: text(search.endedReason),
    from: instant(search.from),
    to: instant(search.to),
    // Without a digit it is no number.
    number: /\d/.test(text(search.number) ?? '') ? text(search.number) : undefined,
    text: text(search.text),
  })
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

/** What is blank asks for nothing. */
function text(value: unknown): string | undefined {
  return textParam(value)?.trim() ? textParam(value) : undefined
}

function instant(value: unknown): string | undefined {
  const date = typeof value === 'string' ? new Date(value) : null
  return date && !Number.isNaN(date.getTime()) ? date.toISOString() : undefined
}
