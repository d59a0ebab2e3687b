import type { SettingsOf } from '../../db/project-settings.ts'
import type { ReadDatabase } from '../../db/reader.ts'
import type { StoreOf } from '../../db/store.ts'
import { invalidRequest } from '../../errors.ts'
import { analysisPrefix, noValue } from '../filters.ts'
import type { CallQuery, CallSearch } from '../finding/call-query.ts'
import { meaningsOf } from '../finding/call-values.ts'
import { toMemberCondition } from '../finding/conditions.ts'
import { FoundPages } from '../finding/found-pages.ts'
import { readSearchBox } from '../finding/search-box.ts'
import { type FiguresRequest, type GroupedBy, isOfTime, readFiguresRequest } from './figures-request.ts'
import { percentsOf, type Show } from './measures.ts'
import type { Passes } from './passes.ts'
import type { Answer, Group, Grouping, Question } from './question.ts'
import { groupsMax, TimeGroups } from './time-groups.ts'

export interface FiguresOfCalls extends Pick<FiguresRequest, 'of' | 'show'> {
  by: string | null
  data: Figure[]
  /** How many calls the filters alone find. */
  total: number
}

interface Figure {
  /** A value of the filter that finds the group's calls, a day, or an hour; null for the one group of all calls, and by two groupings. */
  key: string | null
  /** By two groupings, the key of each. */
  keys?: string[]
  value: number | null
  calls: number
}

interface FiguresOptions {
  store: StoreOf
  settingsOf: SettingsOf
  passes: Passes
}

/** What a question of figures leaves to the engine: its period is that of the search. */
export type AskedQuestion = Omit<Question, 'from' | 'to'> & Partial<Pick<Question, 'from' | 'to'>>

/** Figures of the calls that filters find. */
export class Figures {
  readonly #options: FiguresOptions

  constructor(options: FiguresOptions) {
    this.#options = options
  }

  /**
   * @param query filters, and `of`, `show`, `by` and `timeZone`
   * @throws invalid_request for values that cannot be read, and for more hours, days or values than can be shown
   */
  async read(projectId: number, query: CallQuery): Promise<FiguresOfCalls> {
    const request = readFiguresRequest(query)
    const db = this.#options.store(projectId).readInBackground
    return await this.#readOf(projectId, request, (question, search = request.search) =>
      this.ask(db, projectId, search, question),
    )
  }

  /** The same for the console, whose text may be a number or an id, as in its list of calls. */
  async readBox(projectId: number, query: CallQuery): Promise<FiguresOfCalls> {
    const db = this.#options.store(projectId).readForConsole
    const request = readFiguresRequest(query)
    const { search } = await readSearchBox(db, projectId, query)
    const ordered = { ...search, order: request.search.order }
    const ask: Ask = (question, narrower = ordered) =>
      this.ask(db, projectId, narrower, question, { mayBeOld: true })
    return await this.#readOf(projectId, { ...request, search: ordered }, ask)
  }

  /**
   * Asks any question about the calls of a search.
   * @param options.newest without filters, only about so many of the newest calls
   */
  async ask(
    db: ReadDatabase,
    projectId: number,
    search: CallSearch,
    question: AskedQuestion,
    { newest, ...options }: { mayBeOld?: boolean; newest?: number } = {},
  ): Promise<Answer> {
    const found = await new FoundPages(db, projectId, search).scan()
    const { rows } = found
    const scan = newest !== undefined && rows.kind === 'created' ? { ...found, rows: { ...rows, newest } } : found
    return await this.#options.passes.ask(scan, { from: scan.from, to: scan.to, ...question }, options)
  }

  async #readOf(projectId: number, request: FiguresRequest, ask: Ask): Promise<FiguresOfCalls> {
    const { of, show, by, measure, search } = request
    const zone = request.zone ?? (await this.#options.settingsOf(projectId)).timeZone ?? 'UTC'
    const answer = await ask({
      of: measure.of,
      by: by.map((one) => groupingOf(one, zone)),
      percents: percentsOf(show),
    })
    if (answer.isTooMany) throw invalidRequest([{ field: 'by', message: 'has too many different values' }])
    const [first] = by
    const shape = { of, show, by: by.length === 0 ? null : by.join(','), total: answer.total }
    if (by.length === 2) return { ...shape, data: pairsOf(answer, by, zone, show) }
    if (first === undefined) {
      const [all] = answer.groups
      return { ...shape, data: [{ key: null, ...figureOf(show, all ? [all] : []) }] }
    }
    if (isOfTime(first))
      return { ...shape, data: byTime(answer, new TimeGroups(first, zone), search, first, show) }
    const again = async (text: string) => {
      const condition = toMemberCondition(first, [text])
      if (typeof condition === 'string') return []
      const narrower = { ...search, conditions: [...search.conditions, condition] }
      return (await ask({ of: measure.of, by: [], percents: percentsOf(show) }, narrower)).groups
    }
    return { ...shape, data: await byValue(answer, first, show, again) }
  }
}

type Ask = (question: AskedQuestion, search?: CallSearch) => Promise<Answer>

/** The groups of time from the first call, or `from`, to the last one, or `to`. */
function byTime(
  answer: Answer,
  time: TimeGroups,
  { from, to }: CallSearch,
  by: GroupedBy,
  show: Show,
): Figure[] {
  const start = from ?? answer.first
  const end = to ?? (answer.last === null ? null : answer.last + 1)
  if (start === null || end === null || (from === undefined && answer.total === 0)) return []
  const names = time.in({ from: start, to: end })
  if (names.length > groupsMax)
    throw invalidRequest([
      { field: 'by', message: `would make more than ${groupsMax} groups of one ${by} each` },
    ])
  const groups = new Map(answer.groups.map((group) => [group.names[0], group]))
  return names.map((name) => {
    const group = groups.get(name)
    return { key: time.textOf(name), ...figureOf(show, group ? [group] : []) }
  })
}

/** The groups of a filter's values, those of the most calls first. */
async function byValue(
  { groups }: Answer,
  by: GroupedBy,
  show: Show,
  again: (text: string) => Promise<Group[]>,
): Promise<Figure[]> {
  const known = new Map(groups.map((group) => [group.names[0], group]))
  const figures: (Figure & { key: string })[] = []
  for (const { names } of groups) {
    const [name] = names
    const text = typeof name === 'string' ? name : noValue
    // No filter finds an empty text, nor what is called `none` where that means null.
    if (text === '' || (name !== null && text === noValue && !by.startsWith(analysisPrefix))) continue
    const group = known.get(name)
    // `4.0` also finds the number 4, which is in the group of `4`.
    const isWider =
      name !== null && by.startsWith(analysisPrefix) && meaningsOf(text).some((one) => String(one) !== text)
    figures.push({ key: text, ...figureOf(show, isWider ? await again(text) : group ? [group] : []) })
  }
  return figures.sort((a, b) => b.calls - a.calls || (a.key < b.key ? -1 : 1)).slice(0, groupsMax)
}

/** Those of two groupings, in the order of the first one, and then by calls. */
function pairsOf({ groups }: Answer, by: readonly GroupedBy[], zone: string, show: Show): Figure[] {
  const textOf = by.map((one) => {
    const time = isOfTime(one) ? new TimeGroups(one, zone) : null
    return (name: string | number | null | undefined) =>
      typeof name === 'number' ? (time?.textOf(name) ?? String(name)) : (name ?? noValue)
  })
  const calls = new Map<unknown, number>()
  for (const { names, calls: more } of groups) calls.set(names[0], (calls.get(names[0]) ?? 0) + more)
  const isByTime = by[0] !== undefined && isOfTime(by[0])
  return groups
    .filter(({ names }) => !names.includes(''))
    .sort((a, b) => {
      const [first, other] = [a.names[0] ?? null, b.names[0] ?? null]
      if (first !== other) {
        if (isByTime) return Number(first) - Number(other)
        return (calls.get(other) ?? 0) - (calls.get(first) ?? 0) || (String(first) < String(other) ? -1 : 1)
      }
      return b.calls - a.calls || (String(a.names[1]) < String(b.names[1]) ? -1 : 1)
    })
    .slice(0, groupsMax)
    .map((group) => ({
      key: null,
      keys: group.names.map((name, at) => textOf[at]?.(name) ?? ''),
      ...figureOf(show, [group]),
    }))
}

function groupingOf(by: GroupedBy, zone: string): Grouping {
  if (isOfTime(by)) return { kind: 'time', unit: by, zone }
  switch (by) {
    case 'source':
      return { kind: 'value', column: 'calls.source' }
    case 'endedReason':
      return { kind: 'value', column: 'calls.ended_reason' }
    case 'evaluation':
      return { kind: 'value', column: 'calls.evaluation' }
    case 'isEngaged':
      return { kind: 'value', column: `iif(calls.is_engaged, 'true', 'false')` }
    case 'agentId':
      return { kind: 'value', column: 'calls.agent_id', entries: 'otherAgentId' }
    case 'label':
      return { kind: 'value', entries: by, hasNone: true }
    default:
      return { kind: 'value', entries: by }
  }
}

/** What is shown of the calls of some groups, of which only one has percentiles; null for the value of no numbers. */
export function figureOf(show: Show, groups: readonly Group[]): { value: number | null; calls: number } {
  const sum = (of: (group: Group) => number) => groups.reduce((all, group) => all + of(group), 0)
  const calls = sum((group) => group.calls)
  const numbers = sum((group) => group.numbers)
  const value = () => {
    if (show === 'count') return calls
    if (numbers === 0) return null
    switch (show) {
      case 'sum':
        return sum((group) => group.sum)
      case 'avg':
      case 'share':
        return sum((group) => group.sum) / numbers
      case 'min':
        return Math.min(...groups.map(({ least }) => least))
      case 'max':
        return Math.max(...groups.map(({ most }) => most))
      default:
        return groups[0]?.percentiles[0] ?? null
    }
  }
  return { value: value(), calls }
}
