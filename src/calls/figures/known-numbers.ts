import { eq, type SQL, sql } from 'drizzle-orm'
import { LRUCache } from 'lru-cache'
import { KeyedMutex } from '../../db/keyed-mutex.ts'
import type { ReadDatabase } from '../../db/reader.ts'
import { projects } from '../../db/schema.ts'
import { callsByDay, type DayCount, dayMs, type Period, quarterMs } from '../finding/counts.ts'
import { sortedTally, sumOf, type Tally, tallyOf } from './tally.ts'

/** Fewer calls are read again each time. */
const callsMinDefault = 10_000
const bytesMax = 67_108_864
/** Takes a few milliseconds. */
const callsPerQuery = 4_000
/** After more changes than this, all days are read again. */
const changedDaysMax = 1_000
const quartersPerDay = dayMs / quarterMs

/** The calls of one UTC day. */
interface Day {
  /** The number of each call, in the order of time; NaN if it has none. */
  numbers: Float64Array
  /** How many there are up to the end of each quarter of an hour. */
  ends: Uint32Array
  whole: Tally
}

/** Days by their number since 1970, as they were when the project's last change had this number, or later. */
interface Known {
  changeSeq: number
  days: ReadonlyMap<number, Day>
}

interface Asked {
  db: ReadDatabase
  projectId: number
  /** What the numbers are, and how they are read from a row of `calls`. */
  of: string
  number: SQL
}

/**
 * The numbers of all calls of large projects, kept in memory by days: a change of a call is seen in its change number,
 * and a deletion in the count of its day, so only the days that have changed are read again.
 */
export class KnownNumbers {
  readonly #known = new LRUCache<string, Known>({ maxSize: bytesMax, sizeCalculation: bytesOf })
  readonly #reading = new KeyedMutex()
  readonly #callsMin: number

  /** @param callsMin how many calls a period must have */
  constructor(callsMin = callsMinDefault) {
    this.#callsMin = callsMin
  }

  /**
   * The tallies of all calls of a period, whose ends are those of quarters of an hour.
   * @param nameOf names the group of a quarter of an hour by its start
   * @returns null if there are too few calls to keep their numbers
   */
  async tallies<Name>(
    asked: Asked,
    period: Period,
    nameOf: (start: number) => Name,
  ): Promise<Map<Name, Tally> | null> {
    const counts = await callsByDay(asked.db, asked.projectId, period)
    if (counts.reduce((sum, { calls }) => sum + calls, 0) < this.#callsMin) return null
    const key = `${asked.projectId} ${asked.of}`
    const days = await this.#reading.run(new Set([key]), () => this.#read(key, asked, counts))
    const groups = new Map<Name, Tally[]>()
    for (const [number, day] of days)
      for (const [name, tally] of talliesOf(day, number * dayMs, period, nameOf)) {
        const group = groups.get(name)
        if (group) group.push(tally)
        else groups.set(name, [tally])
      }
    return new Map([...groups].map(([name, group]) => [name, sumOf(...group)]))
  }

  async #read(key: string, asked: Asked, counts: readonly DayCount[]): Promise<Map<number, Day>> {
    const { db, projectId } = asked
    // First, so that what changes meanwhile is read again the next time.
    const [project] = await db
      .select({ changeSeq: projects.changeSeq })
      .from(projects)
      .where(eq(projects.id, projectId))
    const changeSeq = project?.changeSeq ?? 0
    const known = this.#known.get(key) ?? { changeSeq, days: new Map() }
    const changed = await db
      .selectDistinct({ day: sql<number>`created_at / ${sql.raw(`${dayMs}`)}` })
      .from(sql`calls indexed by calls_by_change`)
      .where(sql`project_id = ${projectId} and change_seq > ${known.changeSeq}`)
      .limit(changedDaysMax)
    const days = new Map(changed.length < changedDaysMax ? known.days : [])
    for (const { day } of changed) days.delete(day)
    const found = new Map<number, Day>()
    for (const { day, calls } of counts) {
      const kept = days.get(day)
      found.set(day, kept?.whole.calls === calls ? kept : await readDay(asked, day, calls))
    }
    for (const [day, read] of found) days.set(day, read)
    this.#known.set(key, { changeSeq, days })
    return found
  }
}

async function readDay({ db, projectId, number }: Asked, day: number, calls: number): Promise<Day> {
  const numbers: number[] = []
  const ends = new Uint32Array(quartersPerDay)
  const pieces = Math.ceil((calls + 1) / callsPerQuery)
  for (let piece = 0; piece < pieces; piece++) {
    const [from, to] = [piece, piece + 1].map((at) => Math.ceil((day + at / pieces) * dayMs))
    const rows = await db
      .select({
        quarter: sql<number>`created_at / ${sql.raw(`${quarterMs}`)} % ${sql.raw(`${quartersPerDay}`)} as quarter`,
        // With fewer digits, a number would come back as another one.
        numbers: sql<string>`json_group_array(case when number is null then null else printf('%!.17g', number) end)`,
      })
      .from(sql`(select created_at, ${number} as number from calls indexed by calls_by_created_at
        where project_id = ${projectId} and created_at >= ${from} and created_at < ${to} order by created_at)`)
      .groupBy(sql`quarter`)
    for (const { quarter, numbers: texts } of rows) {
      for (const text of JSON.parse(texts) as (string | null)[])
        numbers.push(text === null ? Number.NaN : Number(text))
      ends.fill(numbers.length, quarter)
    }
  }
  const all = Float64Array.from(numbers)
  return { numbers: all, ends, whole: sortedTally(tallyOf(all)) }
}

/** The tallies of a day's calls in a period. */
function talliesOf<Name>(
  { numbers, ends, whole }: Day,
  start: number,
  { from, to }: Period,
  nameOf: (start: number) => Name,
): (readonly [Name, Tally])[] {
  const nameAt = (quarter: number) => nameOf(start + quarter * quarterMs)
  const [first, last] = [nameAt(0), nameAt(quartersPerDay - 1)]
  // Groups follow each other in time.
  if (from <= start && start + dayMs <= to && first === last) return [[first, whole]]
  const tallies: [Name, Tally][] = []
  let [name, startAt]: [Name | undefined, number] = [undefined, 0]
  for (let quarter = 0; quarter <= quartersPerDay; quarter++) {
    const at = start + quarter * quarterMs
    const next = quarter < quartersPerDay && at >= from && at < to ? nameOf(at) : undefined
    if (next === name) continue
    const endAt = ends[quarter - 1] ?? 0
    if (name !== undefined && endAt > startAt) tallies.push([name, tallyOf(numbers.subarray(startAt, endAt))])
    name = next
    startAt = endAt
  }
  return tallies
}

function bytesOf({ days }: Known): number {
  let bytes = 1
  for (const { numbers, ends, whole } of days.values()) {
    bytes += numbers.byteLength + ends.byteLength
    for (const { byteLength } of whole.sorted) bytes += byteLength
  }
  return bytes
}
