import type { Core } from '../../core/core.ts'
import type { ReadDatabase } from '../../db/reader.ts'
import { invalidRequest } from '../../errors.ts'
import { analysisPrefix, durationBounds, metadataPrefix, noValue } from '../filters.ts'
import type { CallQuery, CallSearch } from '../finding/call-query.ts'
import { meaningsOf } from '../finding/call-values.ts'
import { toMemberCondition } from '../finding/conditions.ts'
import { FoundPages } from '../finding/found-pages.ts'
import { readSearchBox } from '../finding/search-box.ts'
import { durationGroups } from './duration-groups.ts'
import { type FiguresRequest, type GroupedBy, isOfTime, readFiguresRequest } from './figures-request.ts'
import { groupingOf } from './filter-grouping.ts'
import { durationColumn, figureOf, percentsOf, type Show } from './measures.ts'
import type { Passes } from './passes.ts'
import type { Answer, Group, Grouping, Question } from './question.ts'
import { groupsMax, TimeGroups } from './time-groups.ts'

export interface FiguresOfCalls extends Pick<FiguresRequest, 'of' | 'show'> {
  by: string | null
  data: Figure[]
  /** How many calls the filters alone find. */
  total: number
  asOf?: string
}

interface Figure {
  /** A value of the filter that finds the group's calls, a day, or an hour; null for the one group of all calls. */
  key?: string | null
  /** Instead of `key` by two groupings: the key of each. */
  keys?: string[]
  value: number | null
  calls: number
}

interface FiguresParts {
  passes: Passes
}

/** What a question of figures leaves to the engine: its period is that of the search. */
export type AskedQuestion = Omit<Question, 'from' | 'to'> & Partial<Pick<Question, 'from' | 'to'>>

/** Figures of the calls that filters find. */
export class Figures {
  readonly #parts: Core & FiguresParts

  constructor(core: Core, parts: FiguresParts) {
    this.#parts = { ...core, ...parts }
  }

  /**
   * @param query filters, and `of`, `show`, `by` and `timeZone`
   * @throws invalid_request for values that cannot be read, and for more hours, days or values than can be shown
   */
  async read(projectId: number, query: CallQuery): Promise<FiguresOfCalls> {
    const request = readFiguresRequest(query)
    const db = this.#parts.store(projectId).readInBackground
    return await this.#readOf(projectId, request, (question, search = request.search) =>
      this.ask(db, projectId, search, question),
    )
  }

  /** The same for the console, whose text may be a number or an id, as in its list of calls. */
  async readBox(projectId: number, query: CallQuery): Promise<FiguresOfCalls> {
    const db = this.#parts.store(projectId).readForConsole
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
    const scan =
      newest !== undefined && rows.kind === 'created' ? { ...found, rows: { ...rows, newest } } : found
    return await this.#parts.passes.ask(scan, { from: scan.from, to: scan.to, ...question }, options)
  }

  /** Asks several questions about the calls of a search, which one pass answers. */
  async askAll(
    projectId: number,
    search: CallSearch,
    questions: readonly AskedQuestion[],
  ): Promise<Answer[]> {
    const scan = await new FoundPages(this.#parts.store(projectId).readInBackground, projectId, search).scan()
    const { from, to } = scan
    return await Promise.all(
      questions.map((question) => this.#parts.passes.ask(scan, { from, to, ...question })),
    )
  }

  async #readOf(projectId: number, request: FiguresRequest, ask: Ask): Promise<FiguresOfCalls> {
    const { of, show, by, measure, search } = request
    const zone = request.zone ?? (await this.#parts.settingsOf(projectId)).timeZone ?? 'UTC'
    const groupings = by.map((one) => toGrouping(one, zone))
    const percents = percentsOf(show)
    const [first, second] = by
    const [answer, ofFirst] = await Promise.all([
      ask({ of: measure.of, by: groupings, percents }),
      // Of two groupings, the first one's own groups say in which order they come.
      second === undefined ? null : ask({ of: null, by: groupings.slice(0, 1), percents: [] }),
    ])
    if (answer.isTooMany) throw invalidRequest([{ field: 'by', message: 'has too many different values' }])
    const asOf = answer.asOf === undefined ? {} : { asOf: new Date(answer.asOf).toISOString() }
    const shape = { of, show, by: by.length === 0 ? null : by.join(','), total: answer.total, ...asOf }
    if (first === undefined) {
      const [all] = answer.groups
      return { ...shape, data: [{ key: null, ...figureOf(show, all ? [all] : []) }] }
    }
    const series = seriesOf(first, zone)
    if (second === undefined && series)
      return { ...shape, data: inSeries(answer, series, search, first, show) }
    const again: Again = async (texts, names) => {
      const conditions = [...search.conditions]
      for (const [at, text] of texts.entries()) {
        const condition = text === null ? '' : toMemberCondition(by[at] ?? '', [text])
        if (typeof condition !== 'string') conditions.push(condition)
      }
      const others = groupings.filter((_, at) => texts[at] === null)
      const { groups } = await ask({ of: measure.of, by: others, percents }, { ...search, conditions })
      return groups.filter(
        (group) => String(group.names) === String(names.filter((_, at) => texts[at] === null)),
      )
    }
    const calls = new Map(ofFirst?.groups.map(({ names: [name], calls }) => [name, calls]))
    return { ...shape, data: await byValues(answer, { by, zone, show, callsOfFirst: calls }, again) }
  }
}

type Ask = (question: AskedQuestion, search?: CallSearch) => Promise<Answer>
type Names = Group['names']
/** Asks for a group once more, with filters for the keys that are texts here. */
type Again = (texts: readonly (string | null)[], names: Names) => Promise<Group[]>

/** Groups with an order of their own, all of which are shown. */
type Series = Pick<TimeGroups, 'in' | 'textOf'>

function seriesOf(by: GroupedBy, zone: string): Series | null {
  if (by === 'duration') return durationGroups
  return isOfTime(by) ? new TimeGroups(by, zone) : null
}

/** The groups of time from the first call, or `from`, to the last one, or `to`; or those of durations. */
function inSeries(
  answer: Answer,
  series: Series,
  { from, to }: CallSearch,
  by: GroupedBy,
  show: Show,
): Figure[] {
  const start = from ?? answer.first
  const end = to ?? (answer.last === null ? null : answer.last + 1)
  if (start === null || end === null || (from === undefined && answer.total === 0)) return []
  const names = series.in({ from: start, to: end })
  if (names.length > groupsMax)
    throw invalidRequest([
      { field: 'by', message: `would make more than ${groupsMax} groups of one ${by} each` },
    ])
  const groups = new Map(answer.groups.map((group) => [group.names[0], group]))
  return names.map((name) => {
    const group = groups.get(name)
    return { key: series.textOf(name), ...figureOf(show, group ? [group] : []) }
  })
}

interface ByValues {
  by: readonly GroupedBy[]
  zone: string
  show: Show
  /** With two groupings, how many calls each group of the first one has. */
  callsOfFirst: Map<Names[number] | undefined, number>
}

/** The groups of the values of one or two filters: those of time and duration ascending, others by calls. */
async function byValues({ groups }: Answer, { by, zone, show, callsOfFirst }: ByValues, again: Again) {
  const ordered = by.map((one) => seriesOf(one, zone))
  const found: { names: Names; keys: string[]; figure: ReturnType<typeof figureOf> }[] = []
  for (const group of groups) {
    const { names } = group
    const keys = names.map(
      (name, at) => (typeof name === 'number' && ordered[at]?.textOf(name)) || textOf(name),
    )
    if (names.some((name, at) => isUnfound(by[at] ?? '', name))) continue
    const texts = keys.map((key, at) => (isWider(by[at] ?? '', names[at] ?? null, key) ? key : null))
    const own = texts.some((text) => text !== null) ? await again(texts, names) : [group]
    found.push({ names, keys, figure: figureOf(show, own) })
  }
  found.sort((a, b) => {
    for (const [at, series] of ordered.entries()) {
      const [name, other] = [a.names[at], b.names[at]]
      if (name === other) continue
      if (series) return Number(name) - Number(other)
      const isFirstOfTwo = at < by.length - 1
      const calls = isFirstOfTwo
        ? (callsOfFirst.get(other) ?? 0) - (callsOfFirst.get(name) ?? 0)
        : b.figure.calls - a.figure.calls
      return calls || ((a.keys[at] ?? '') < (b.keys[at] ?? '') ? -1 : 1)
    }
    return 0
  })
  return found.slice(0, groupsMax).map(({ keys, figure }) => {
    const [key = null] = keys
    return by.length === 1 ? { key, ...figure } : { keys, ...figure }
  })
}

function textOf(name: Names[number]): string {
  return name === null ? noValue : String(name)
}

/** No filter finds an empty text, nor what is called `none` where that means null. */
function isUnfound(by: string, name: Names[number]): boolean {
  return name === '' || (name === noValue && !hasAnyValue(by))
}

/** `4.0` also finds the number 4, which is in the group of `4`. */
function isWider(by: string, name: Names[number], text: string): boolean {
  return name !== null && hasAnyValue(by) && meaningsOf(text).some((one) => String(one) !== text)
}

/** Whether its values are the project's own: texts, numbers and booleans. */
function hasAnyValue(by: string): boolean {
  return by.startsWith(analysisPrefix) || by.startsWith(metadataPrefix)
}

function toGrouping(by: GroupedBy, zone: string): Grouping {
  if (isOfTime(by)) return { kind: 'time', unit: by, zone }
  if (by === 'duration') return { kind: 'bounds', column: durationColumn, bounds: durationBounds }
  return groupingOf(by) ?? { kind: 'value', entries: by }
}
