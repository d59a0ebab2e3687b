import { type ReadRows, type Scan, slicesOf } from '../finding/scan.ts'
import { type CallsInPeriod, Columns, type ReadColumn } from './columns.ts'
import { levelOf, quantileLimits, zOf } from './comparing/intervals.ts'
import { type Key, keyOf } from './keys.ts'
import { Moments } from './moments.ts'
import { Percentiles } from './percentiles.ts'
import type { Answer, Group, Measured, Question } from './question.ts'

/** Takes some 10 ms. */
const sliceCallsDefault = 6_000
/** How many different groups a question can have: to sort more would delay others. */
const groupsReadMax = 50_000
/** How many numbers are listed, some 10 MB. Who asks refuses more. */
const listedMax = 500_000

export interface PassOptions {
  scan: Scan
  questions: readonly Question[]
  sliceCalls?: number
}

/**
 * Looks through the calls of a scan once and answers all questions about them, in slices, so that other queries get a
 * turn between two of them.
 */
export async function answerAll(
  read: ReadRows,
  { scan, questions, sliceCalls = sliceCallsDefault }: PassOptions,
  nextTurn: () => Promise<unknown>,
): Promise<Answer[]> {
  const columns = new Columns(read)
  const tallies = questions.map((question) => new Tally(question, columns))
  for await (const slice of slicesOf(scan, read, sliceCalls)) {
    const calls = await columns.load(slice)
    for (const tally of tallies) tally.add(calls)
    await nextTurn()
  }
  const answers: Answer[] = []
  for (const tally of tallies) answers.push(await tally.answer(nextTurn))
  return answers
}

function numberOf(of: Measured, columns: Columns): ReadColumn {
  if ('column' in of) return columns.number(of.column)
  if ('whole' in of) return columns.whole(of.whole)
  return 'value' in of
    ? columns.numberOfValue(of.value, of.numbers)
    : columns.numberOfEntry(of.entries, of.numbers)
}

/** What is known of the calls that answer a question. Its loops have local variables alone: they run for each call. */
class Tally {
  readonly #question: Question
  readonly #createdAt: ReadColumn
  readonly #period: CallsInPeriod
  readonly #seq: ReadColumn | null
  readonly #number: ReadColumn | null
  readonly #listedAt: ReadColumn | null
  readonly #listed: { at: number[]; numbers: number[] } = { at: [], numbers: [] }
  readonly #keys: Key[]
  /** Of two keys, the group of each pair, and the pair of each group. */
  readonly #groupOfPair: number[][] = []
  readonly #pairs: [number, number][] = []
  readonly #percentiles: Percentiles | null
  readonly #moments: Moments | null
  #calls = new Float64Array(64)
  #numbers = new Float64Array(64)
  #sums = new Float64Array(64)
  #least = new Float64Array(64).fill(Number.POSITIVE_INFINITY)
  #most = new Float64Array(64).fill(Number.NEGATIVE_INFINITY)
  #newest = new Float64Array(64)
  #newestAt = new Float64Array(64)
  /** The calls of the slice that are in groups, once for each, and their groups. */
  #found: Int32Array = new Int32Array(0)
  #groups: Int32Array = new Int32Array(0)
  #count = 0

  constructor(question: Question, columns: Columns) {
    const { of, by, percents, wantsNewest, listedAt, limits, within } = question
    this.#question = question
    this.#createdAt = columns.whole('calls.created_at')
    this.#period = columns.period(question)
    this.#seq = wantsNewest ? columns.whole('calls.seq') : null
    this.#number = of && numberOf(of, columns)
    this.#listedAt = listedAt === undefined ? null : columns.whole(listedAt)
    this.#keys = by.map((each) => keyOf(each, columns))
    this.#percentiles = percents.length > 0 || within !== undefined ? new Percentiles() : null
    this.#moments = limits === undefined ? null : new Moments()
  }

  add(calls: number): void {
    if (this.#calls.length > groupsReadMax * 4) return
    if (this.#listedAt) this.#list(this.#listedAt)
    this.#findGroups(calls, this.#period.calls)
    const [count, found, groups] = [this.#count, this.#found, this.#groups]
    const counts = this.#calls
    for (let at = 0; at < count; at++) {
      const group = groups[at] as number
      counts[group] = (counts[group] as number) + 1
    }
    if (this.#seq) this.#noteNewest(this.#seq.values)
    const values = this.#number?.values
    if (!values) return
    const [numbers, sums, least, most] = [this.#numbers, this.#sums, this.#least, this.#most]
    for (let at = 0; at < count; at++) {
      const number = values[found[at] as number] as number
      if (Number.isNaN(number)) continue
      const group = groups[at] as number
      numbers[group] = (numbers[group] as number) + 1
      sums[group] = (sums[group] as number) + number
      if (number < (least[group] as number)) least[group] = number
      if (number > (most[group] as number)) most[group] = number
    }
    this.#percentiles?.add(values, found, groups, count)
    this.#moments?.add(values, found, groups, count)
  }

  #list({ values: times }: ReadColumn): void {
    const numbers = this.#number?.values
    if (this.#listed.at.length > listedMax) return
    for (const call of this.#period.calls) {
      this.#listed.at.push(times[call] as number)
      this.#listed.numbers.push(numbers ? (numbers[call] as number) : Number.NaN)
    }
  }

  #findGroups(calls: number, inPeriod: Int32Array): void {
    const [first, second] = this.#keys
    this.#count = 0
    if (this.#groups.length < calls) this.#groups = new Int32Array(calls)
    if (!first) {
      this.#found = inPeriod
      this.#groups.fill(0)
      this.#count = inPeriod.length
      return
    }
    if (this.#found.length < calls) this.#found = new Int32Array(calls)
    const isEachInOne = !first.entries && !second?.entries
    const firstKeys = first.keysOf(calls)
    const secondKeys = second?.keysOf(calls)
    if (!isEachInOne) {
      this.#findMany(inPeriod, first, second)
      return
    }
    const [found, groups] = [this.#found, this.#groups]
    let [count, greatest] = [0, 0]
    for (let at = 0; at < inPeriod.length; at++) {
      const call = inPeriod[at] as number
      const key = firstKeys[call] as number
      const other = secondKeys ? (secondKeys[call] as number) : 0
      if (key < 0 || other < 0) continue
      const group = secondKeys ? this.#pairOf(key, other) : key
      found[count] = call
      groups[count++] = group
      if (group > greatest) greatest = group
    }
    this.#count = count
    if (greatest >= this.#calls.length) this.#grow(greatest)
  }

  /** Of calls that may be in several groups. */
  #findMany(inPeriod: Int32Array, first: Key, second: Key | undefined): void {
    const [found, groups]: [number[], number[]] = [[], []]
    let greatest = 0
    for (const call of inPeriod)
      for (const key of first.allOf(call))
        for (const other of second ? second.allOf(call) : [0]) {
          const group = second ? this.#pairOf(key, other) : key
          found.push(call)
          groups.push(group)
          if (group > greatest) greatest = group
        }
    this.#found = Int32Array.from(found)
    this.#groups = Int32Array.from(groups)
    this.#count = found.length
    if (greatest >= this.#calls.length) this.#grow(greatest)
  }

  #noteNewest(seqs: ReadColumn['values']): void {
    const times = this.#createdAt.values
    for (let at = 0; at < this.#count; at++) {
      const [call, group] = [this.#found[at] as number, this.#groups[at] as number]
      const time = times[call] as number
      if (time < (this.#newestAt[group] as number)) continue
      this.#newestAt[group] = time
      this.#newest[group] = seqs[call] as number
    }
  }

  async answer(nextTurn: () => Promise<unknown>): Promise<Answer> {
    const { percents, limits, within } = this.#question
    const groups: Group[] = []
    const indexes: number[] = []
    const ranked = await this.#percentiles?.sorted(nextTurn)
    for (let group = 0; group < this.#calls.length; group++) {
      const calls = this.#calls[group] as number
      if (calls === 0) continue
      indexes.push(group)
      groups.push({
        names: this.#namesOf(group),
        calls,
        numbers: this.#numbers[group] as number,
        sum: this.#sums[group] as number,
        least: this.#least[group] as number,
        most: this.#most[group] as number,
        percentiles: percents.map((percent) => ranked?.at(group, percent) ?? Number.NaN),
        newest: this.#newest[group] as number,
        ...(this.#moments && { moments: this.#moments.of(group) }),
      })
    }
    if (ranked && limits) {
      const z = zOf(levelOf(limits, groups.length))
      for (const [at, group] of indexes.entries()) {
        const numberAt = (place: number) => ranked.numberAt(group, place)
        const ofPercent = (percent: number) =>
          quantileLimits(percent / 100, ranked.countOf(group), z, numberAt)
        Object.assign(groups[at] ?? {}, { limits: percents.map(ofPercent) })
      }
    }
    const time = within === undefined ? undefined : groups.find(({ names: [name] }) => name === within)
    if (ranked && time)
      for (const [at, group] of indexes.entries())
        Object.assign(groups[at] ?? {}, { within: ranked.countWithin(group, time.least, time.most) })
    const { total, first, last } = this.#period
    const isTooMany = groups.length > groupsReadMax
    return {
      groups: isTooMany ? [] : groups,
      total,
      first: total === 0 ? null : first,
      last: total === 0 ? null : last,
      isTooMany,
      ...(this.#listedAt && {
        listed: { at: Float64Array.from(this.#listed.at), numbers: Float64Array.from(this.#listed.numbers) },
      }),
    }
  }

  #namesOf(group: number): Group['names'] {
    const [first, second] = this.#keys
    if (!first) return []
    if (!second) return [first.nameOf(group)]
    const [key, other] = this.#pairs[group] ?? [0, 0]
    return [first.nameOf(key), second.nameOf(other)]
  }

  #pairOf(key: number, other: number): number {
    let groups = this.#groupOfPair[key]
    if (!groups) {
      groups = []
      this.#groupOfPair[key] = groups
    }
    groups[other] ??= this.#pairs.push([key, other]) - 1
    return groups[other]
  }

  #grow(group: number): void {
    const length = Math.max(group + 1, this.#calls.length * 2)
    const grown = (before: Float64Array, empty = 0) => {
      const after = new Float64Array(length).fill(empty)
      after.set(before)
      return after
    }
    this.#calls = grown(this.#calls)
    this.#numbers = grown(this.#numbers)
    this.#sums = grown(this.#sums)
    this.#least = grown(this.#least, Number.POSITIVE_INFINITY)
    this.#most = grown(this.#most, Number.NEGATIVE_INFINITY)
    this.#newest = grown(this.#newest)
    this.#newestAt = grown(this.#newestAt)
  }
}
