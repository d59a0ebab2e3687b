import { type SQL, sql } from 'drizzle-orm'
import type { SettingsOf } from '../../db/project-settings.ts'
import type { ReadDatabase } from '../../db/reader.ts'
import type { StoreOf } from '../../db/store.ts'
import { type AppError, invalidRequest } from '../../errors.ts'
import { clockOf } from '../../text/zone.ts'
import { analysisPrefix, noValue } from '../filters.ts'
import type { CallQuery } from '../finding/call-query.ts'
import { meaningsOf } from '../finding/call-values.ts'
import { unlabelled } from '../finding/conditions.ts'
import { allTime } from '../finding/counts.ts'
import { FoundPages } from '../finding/found-pages.ts'
import { readSearchBox } from '../finding/search-box.ts'
import { type FiguresRequest, readFiguresRequest } from './figures-request.ts'
import { type Reading, readTallies, readTalliesUnder, type Tallies } from './read-tallies.ts'
import { emptyTally, shown, sumOf, type Tally } from './tally.ts'
import { groupsMax, TimeGroups } from './time-groups.ts'

export interface FiguresOfCalls extends Pick<FiguresRequest, 'of' | 'show' | 'by'> {
  data: Figure[]
  /** How many calls the filters alone find. */
  total: number
}

interface Figure {
  /** A value of the filter that finds the group's calls, a day, or an hour; null for the one group of all calls. */
  key: string | null
  value: number | null
  calls: number
}

interface Groups {
  groups: (readonly [key: string | null, Tally])[]
  total: number
}

interface FiguresOptions {
  store: StoreOf
  settingsOf: SettingsOf
}

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
  read(projectId: number, query: CallQuery): Promise<FiguresOfCalls> {
    const db = this.#options.store(projectId).readInBackground
    return this.#readOf(projectId, readFiguresRequest(query), db)
  }

  /** The same for the console, whose text may be a number or an id, as in its list of calls. */
  async readBox(projectId: number, query: CallQuery): Promise<FiguresOfCalls> {
    const db = this.#options.store(projectId).readForConsole
    const request = readFiguresRequest(query)
    const { search } = await readSearchBox(db, projectId, query)
    return await this.#readOf(
      projectId,
      { ...request, search: { ...search, order: request.search.order } },
      db,
    )
  }

  async #readOf(projectId: number, request: FiguresRequest, db: ReadDatabase): Promise<FiguresOfCalls> {
    const { of, show, by, search } = request
    const reading = { ...request, db, projectId, pages: new FoundPages(db, projectId, search) }
    const isByTime = by === 'day' || by === 'hour'
    const { groups, total } = isByTime
      ? await groupByTime(reading, by, (await this.#options.settingsOf(projectId)).timeZone)
      : await groupByValue(reading)
    const data = groups.map(([key, tally]) => ({ key, value: shown(show, tally), calls: tally.calls }))
    return { of, show, by, data, total }
  }
}

/** The days or hours from the first call, or `from`, to the last one, or `to`. */
async function groupByTime(reading: Reading, by: 'day' | 'hour', zone: string | null): Promise<Groups> {
  const { from, to } = reading.search
  const start = from ?? (await reading.pages.firstTime())
  if (start === undefined) return { groups: [], total: 0 }
  const aheadAt = reading.aheadAt ?? clockOf(zone ?? 'UTC') ?? (() => 0)
  const time = new TimeGroups(by, { from: start, to: to ?? allTime.to }, aheadAt)
  if (to !== undefined && time.names.length > groupsMax) throw tooMany(by)
  const tallies = await readTallies(reading, time.nameOf(sql`calls.created_at`))
  const found = [...tallies.keys()].map(Number)
  const first = from === undefined ? Math.min(...found) : Number.NEGATIVE_INFINITY
  const last = to === undefined ? Math.max(...found) : Number.POSITIVE_INFINITY
  const names = time.names.filter((each) => each >= first && each <= last)
  // No name stands for what is later than all of them.
  if (tallies.has(null) || names.length > groupsMax) throw tooMany(by)
  const groups = names.map((each) => [time.textOf(each), tallies.get(each) ?? emptyTally] as const)
  return { groups, total: callsIn(tallies) }
}

/** The groups of a filter's values, those of the most calls first; or all calls. */
async function groupByValue(reading: Reading): Promise<Groups> {
  const { by } = reading
  const { name, under } = namingOf(by)
  const tallies = await readTallies(reading, name)
  const total = callsIn(tallies)
  if (by === null) return { groups: [[null, tallies.get(null) ?? emptyTally]], total }
  const values: Map<unknown, Tally> = new Map(tallies)
  if (under !== undefined)
    for (const [entry, tally] of await readTalliesUnder(reading, under)) {
      const [, value]: unknown[] = JSON.parse(String(entry))
      values.set(value, sumOf(tally, values.get(value) ?? emptyTally))
    }
  const none = values.get(null)
  const texts = new Set([...values.keys()].filter((value) => value !== null).map(String))
  // No filter finds an empty text, nor what is called `none` where that means null.
  texts.delete('')
  if (!by.startsWith(analysisPrefix)) texts.delete(noValue)
  const groups = [...texts].map((text) => {
    const meant = meaningsOf(text).map((value) => values.get(value) ?? emptyTally)
    return [text, sumOf(...meant)] as const
  })
  const all = none ? [...groups, [noValue, none] as const] : groups
  return { groups: all.sort(byCalls).slice(0, groupsMax), total }
}

function byCalls([a, { calls }]: readonly [string, Tally], [b, other]: readonly [string, Tally]): number {
  return other.calls - calls || (a < b ? -1 : 1)
}

/** How calls are grouped by values. */
interface ByValue {
  /** The name of a call's group; absent if all calls are one. */
  name?: SQL
  /** The name in call_values of further groups of a call. */
  under?: string
}

function namingOf(by: FiguresRequest['by']): ByValue {
  switch (by) {
    case null:
      return {}
    case 'source':
      return { name: sql`calls.source` }
    case 'endedReason':
      return { name: sql`calls.ended_reason` }
    case 'evaluation':
      return { name: sql`calls.evaluation` }
    case 'agentId':
      return { name: sql`calls.agent_id`, under: 'otherAgentId' }
    case 'label':
      return { name: sql`case when ${unlabelled.check} then null else '' end`, under: by }
    default:
      return { name: sql`''`, under: by }
  }
}

function callsIn(tallies: Tallies): number {
  return [...tallies.values()].reduce((sum, { calls }) => sum + calls, 0)
}

function tooMany(by: string): AppError {
  return invalidRequest([
    { field: 'by', message: `would make more than ${groupsMax} groups of one ${by} each` },
  ])
}
