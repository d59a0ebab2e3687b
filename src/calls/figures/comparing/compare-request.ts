import { type FieldError, invalidRequest } from '../../../errors.ts'
import { isNamed, nearestName, unknownName } from '../../../names.ts'
import { splitValues } from '../../../text/values.ts'
import { criterionPrefix, filterNames, prefixOf } from '../../filters.ts'
import {
  type CallQuery,
  type CallSearch,
  checkParameters,
  problemOf,
  readCallSearch,
  valuesOf,
} from '../../finding/call-query.ts'
import { measureOf } from '../measures.ts'
import type { Measured } from '../question.ts'

/** The filters by whose values calls are compared. */
export const comparedBy = ['agentVersion', 'agentId', 'source'] as const
export type ComparedBy = (typeof comparedBy)[number]

export const figuresMax = 20
const shows = ['avg', 'p50', 'p95'] as const
const ofCounts = ['count', 'sum', 'min', 'max']
const criterionName = /^criterion\.[a-z0-9_]{1,40}$/
const lessIsBetter = ['costUsd', 'latencyMs']
const aFigure = `must be success, isEngaged, criterion.ID, or the name of a number with ${shows.map((show) => `.${show}`).join(' or ')}`

/** A figure as a request names it. */
export interface ComparedFigure {
  name: string
  of: Measured
  show: 'share' | (typeof shows)[number]
  /** Null where more is neither better nor worse. */
  isMoreBetter: boolean | null
}

/** Calls that are compared, and the query with which the list finds them. */
export interface ComparedCalls {
  query: CallQuery
  search: CallSearch
}

export interface CompareRequest {
  /** Null if none was named. */
  figures: readonly ComparedFigure[] | null
  /** The calls that have one value against those of each other value, or two groups and what is in both. */
  groups:
    | { by: ComparedBy; against: string; all: ComparedCalls }
    | { by: null; a: ComparedCalls; b: ComparedCalls; both: CallSearch | null }
}

type Filters = Record<string, CallQuery[string]>

/** @throws invalid_request naming every parameter that cannot be read */
export function readCompareRequest(query: CallQuery): CompareRequest {
  const errors: FieldError[] = []
  const { of, by, ...others } = query
  checkParameters(others, ['against', 'a.FILTER', 'b.FILTER'], errors)
  for (const field of ['cursor', 'order', 'fields'])
    if (query[field] !== undefined) errors.push({ field, message: 'cannot be used here' })
  const parts: Record<'' | 'a.' | 'b.', Filters> = { '': {}, 'a.': {}, 'b.': {} }
  for (const [name, texts] of Object.entries(query)) {
    const prefix = name.startsWith('a.') ? 'a.' : name.startsWith('b.') ? 'b.' : ''
    const filter = name.slice(prefix.length)
    if (isFilter(filter)) parts[prefix][filter] = texts
    else if (prefix !== '')
      errors.push({ field: name, message: unknownName(nearestName(filter, filterNames)) })
  }
  const common = parts['']
  for (const prefix of ['', 'a.', 'b.'] as const) {
    const ofPart: FieldError[] = []
    toCalls(parts[prefix], ofPart)
    for (const name of prefix === '' ? [] : Object.keys(parts[prefix]))
      if (common[name] !== undefined) ofPart.push({ field: name, message: 'is a filter of both groups' })
    errors.push(...ofPart.map(({ field, message }) => ({ field: prefix + field, message })))
  }
  const figures = of === undefined ? null : readFigures(of, errors)
  const groups = readGroups({ by, against: query.against }, common, [parts['a.'], parts['b.']], errors)
  if (errors.length > 0 || !groups) throw invalidRequest(errors)
  return { figures, groups }
}

function readGroups(
  query: Pick<CallQuery, 'by' | 'against'>,
  common: Filters,
  [ofA, ofB]: [Filters, Filters],
  errors: FieldError[],
): CompareRequest['groups'] | undefined {
  const [against] = valuesOf(query, 'against') ?? []
  if (query.by === undefined && against === undefined) {
    for (const [field, own] of Object.entries({ a: ofA, b: ofB }))
      if (Object.keys(own).length === 0)
        errors.push({ field, message: `needs a filter of its own, such as ${field}.agentVersion=v1` })
    const [a, b] = [ofA, ofB].map((own) => toCalls({ ...common, ...own }, [])) as [
      ComparedCalls,
      ComparedCalls,
    ]
    return { by: null, a, b, both: areApart(ofA, ofB) ? null : inBoth(a.search, b.search) }
  }
  const by = comparedBy.find((one) => one === [query.by].flat().join())
  if (!by) errors.push({ field: 'by', message: `must be ${comparedBy.join(' or ')}` })
  if (!against)
    errors.push({ field: 'against', message: `must be the value that the others are compared with` })
  if (by && common[by] !== undefined)
    errors.push({ field: by, message: 'is what calls are compared by, and no filter beside it' })
  for (const [field, own] of Object.entries({ a: ofA, b: ofB }))
    if (Object.keys(own).length > 0) errors.push({ field, message: 'is no group beside `by`' })
  return by && against ? { by, against, all: toCalls(common, []) } : undefined
}

/** Completed calls alone: the figures of a live call are not known yet. */
function toCalls(filters: Filters, errors: FieldError[]): ComparedCalls {
  if (filters.status !== undefined && !valuesOf(filters, 'status')?.includes('completed'))
    errors.push({ field: 'status', message: 'must be completed: live calls are not compared' })
  const query = { ...filters, status: 'completed' }
  const orders = { orders: ['createdAt'], readCursor: () => undefined } as const
  return { query, search: readCallSearch({ ...query, order: 'createdAt' }, orders, errors) }
}

/** Whether no call can be in both, since a call has one value of what both name. */
function areApart(a: Filters, b: Filters): boolean {
  return ['agentVersion', 'source', 'direction', 'evaluation'].some((name) => {
    const [ofA, ofB] = [valuesOf(a, name), valuesOf(b, name)]
    return ofA && ofB && !ofA.some((value) => ofB.includes(value))
  })
}

function inBoth(a: CallSearch, b: CallSearch): CallSearch {
  const words = a.words?.flatMap((one) =>
    (b.words ?? [one]).map((other) => ({ ...one, words: [...one.words, ...other.words] })),
  )
  const all = words ?? b.words
  return {
    order: a.order,
    conditions: [...a.conditions, ...b.conditions],
    from: Math.max(a.from ?? 0, b.from ?? 0),
    to: Math.min(a.to ?? Number.MAX_SAFE_INTEGER, b.to ?? Number.MAX_SAFE_INTEGER),
    phrases: [...(a.phrases ?? []), ...(b.phrases ?? [])],
    ...(all && { words: all }),
  }
}

function isFilter(name: string): boolean {
  return filterNames.some((one) => isNamed(name, one))
}

function readFigures(texts: string | readonly string[], errors: FieldError[]): ComparedFigure[] {
  const names = [...new Set([texts].flat().flatMap(splitValues))]
  const problem =
    problemOf(names) ?? (names.length > figuresMax ? `must be at most ${figuresMax} figures` : undefined)
  const figures = problem ? [problem] : names.map(toFigure)
  for (const message of figures) if (typeof message === 'string') errors.push({ field: 'of', message })
  return figures.filter((figure) => typeof figure !== 'string')
}

/** @param name without a show for a share, else a measure and what is shown of it @returns a string that says what is wrong */
export function toFigure(name: string): ComparedFigure | string {
  const share = name === prefixOf(name) ? undefined : measureOf(name)
  if (share?.of && share.shows[0] === 'share') {
    const isCriterion = prefixOf(name) === criterionPrefix
    if (isCriterion && !criterionName.test(name)) return `${aFigure}, and is ${name}`
    return {
      name,
      of: share.of,
      show: 'share',
      isMoreBetter: isCriterion || name === 'success' ? true : null,
    }
  }
  const dot = name.lastIndexOf('.')
  const [of, show] = [name.slice(0, dot), name.slice(dot + 1)]
  const measure = of === prefixOf(of) ? undefined : measureOf(of)
  if (measure && ofCounts.includes(show))
    return `${name} depends on the number of calls, so it cannot be compared`
  const shown = shows.find((one) => one === show && measure?.shows.includes(one))
  if (!measure?.of || !shown) return `${aFigure}, and is ${name}`
  return { name, of: measure.of, show: shown, isMoreBetter: lessIsBetter.includes(of) ? false : null }
}
