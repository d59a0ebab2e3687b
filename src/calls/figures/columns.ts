import type { Period } from '../finding/period.ts'
import type { ReadRows } from '../finding/scan.ts'
import type { Statement } from '../finding/statement.ts'

/** Of numbers that are written as integers. */
const decimals = 10_000
/** Of a call's list from its first entry under a name. Most are whole in it, and an entry always is. */
const listChars = 512
const listCharsMax = 1_000_000_000

export type Value = string | number | boolean | null

/** Numbers of the calls of a slice; NaN for none. */
export interface ReadColumn {
  values: Float64Array | readonly number[]
}

/** Values of the calls of a slice, by their numbers in the dictionary. */
interface ReadValues {
  ids: Int32Array
  dictionary: Dictionary
}

/** Entries of the calls of a slice: the place of each call's first one, and of the one after each; -1 for none. */
export interface ReadEntries {
  first: Int32Array
  nextOf: number[]
  ids: number[]
  dictionary: Dictionary
}

class Dictionary {
  readonly values: Value[] = []
  readonly #ids = new Map<Value, number>()
  readonly #entryIds = new Map<string, number>()

  idOf(value: Value): number {
    const known = this.#ids.get(value)
    if (known !== undefined) return known
    this.#ids.set(value, this.values.length)
    return this.values.push(value) - 1
  }

  /** @param entry as it stands in a list, the JSON of a name and a value as a JSON text */
  idOfEntry(entry: string): number {
    const known = this.#entryIds.get(entry)
    if (known !== undefined) return known
    const [, value]: [string, Value] = JSON.parse(JSON.parse(entry))
    const id = this.idOf(value)
    // A copy: as a part of a longer text it would keep all of that in memory.
    this.#entryIds.set(Buffer.from(entry).toString(), id)
    return id
  }
}

/** The calls of a slice that are in a period, and of all slices so far how many there are, and when the first and the last was created. */
export interface CallsInPeriod {
  calls: Int32Array
  first: number
  last: number
  total: number
}

interface Read<Column> {
  column: Column
  /** Of the slice, one text for all calls. */
  text: string
  /** Of entries: what is sought in the list. */
  start?: string
  /** @returns whether nothing was cut off */
  take: (text: string) => boolean
}

/**
 * What the questions of a pass need of each call. SQLite sends a column of a slice as one JSON text, which takes half as
 * long as rows do.
 */
export class Columns {
  readonly #read: ReadRows
  readonly #columns = new Map<string, Read<unknown>>()
  readonly #derived: ((calls: number) => void)[] = []
  readonly #shared = new Map<string, unknown>()
  /** The number of the slice that was loaded last. */
  slice = 0

  constructor(read: ReadRows) {
    this.#read = read
  }

  /** A column of integers that is never null. */
  whole(sql: string): ReadColumn {
    return this.#add(
      `whole ${sql}`,
      `json_group_array(${sql})`,
      { values: [] as readonly number[] },
      (column) => (values) => {
        column.values = values as number[]
      },
    )
  }

  number(sql: string): ReadColumn {
    // Most numbers have few decimals, and are written as integers in half the time. The others need all digits.
    const whole = `cast(${sql} * ${decimals} + 0.5 as integer)`
    const text = `json_group_array(case when ${whole} / ${decimals}.0 = ${sql} then ${whole}
      when ${sql} is null then null else printf('%!.17g', ${sql}) end)`
    return this.#add(`number ${sql}`, text, { values: new Float64Array(0) }, (column) => (values) => {
      const numbers = column.values.length < values.length ? new Float64Array(values.length) : column.values
      for (let call = 0; call < values.length; call++) {
        const value = values[call]
        numbers[call] =
          typeof value === 'number' ? value / decimals : value === null ? Number.NaN : Number(value)
      }
      column.values = numbers
    })
  }

  value(sql: string): ReadValues {
    const empty = { ids: new Int32Array(0), dictionary: new Dictionary() }
    return this.#add(`value ${sql}`, `json_group_array(${sql})`, empty, (column) => (values) => {
      if (column.ids.length < values.length) column.ids = new Int32Array(values.length)
      for (let call = 0; call < values.length; call++)
        column.ids[call] = column.dictionary.idOf(values[call] as Value)
    })
  }

  /** Of `calls.value_list`: `label` is under the name of those that begin with `["label",`. */
  entries(under: string): ReadEntries {
    const name = `entries ${under}`
    const known = this.#columns.get(name)
    if (known) return known.column as ReadEntries
    const column: ReadEntries = {
      first: new Int32Array(0),
      nextOf: [],
      ids: [],
      dictionary: new Dictionary(),
    }
    const start = JSON.stringify(`${JSON.stringify([under]).slice(0, -1)},`).slice(0, -1)
    // A tenth of what `json_each` takes. JSON has no bare line ends.
    const text = `group_concat(coalesce(substr(calls.value_list, nullif(instr(calls.value_list, ?), 0), ?), ''), char(10))`
    const take = (lists: string) => takeEntries(column, lists.split('\n'), start)
    this.#columns.set(name, { column, text, start, take })
    return column
  }

  /** The calls of a slice that were created in a period, once for all questions. */
  period({ from, to }: Period): CallsInPeriod {
    return this.shared(`period ${from} ${to}`, () => {
      const createdAt = this.whole('calls.created_at')
      const period: CallsInPeriod = {
        calls: new Int32Array(0),
        first: Number.POSITIVE_INFINITY,
        last: Number.NEGATIVE_INFINITY,
        total: 0,
      }
      this.#derived.push((calls) => {
        const times = createdAt.values
        const inPeriod = new Int32Array(calls)
        let [count, first, last] = [0, period.first, period.last]
        for (let call = 0; call < calls; call++) {
          const time = times[call] as number
          if (time < from || time >= to) continue
          inPeriod[count++] = call
          if (time < first) first = time
          if (time > last) last = time
        }
        Object.assign(period, {
          calls: inPeriod.subarray(0, count),
          first,
          last,
          total: period.total + count,
        })
      })
      return period
    })
  }

  /** What is derived from columns, once for all questions. */
  shared<Shared>(name: string, make: () => Shared): Shared {
    const known = this.#shared.get(name) ?? make()
    this.#shared.set(name, known)
    return known as Shared
  }

  /** The number that each call's value stands for. */
  numberOfValue(sql: string, numbers: Record<string, number>): ReadColumn {
    return this.shared(`${sql} ${JSON.stringify(numbers)}`, () => this.#numberOfValue(sql, numbers))
  }

  #numberOfValue(sql: string, numbers: Record<string, number>): ReadColumn {
    const { values, derive } = this.#derive(this.value(sql).dictionary, numbers)
    const read = this.value(sql)
    this.#derived.push((calls) => derive(calls, (call) => read.ids[call] as number))
    return values
  }

  /** The number of each call's one entry under a name. */
  numberOfEntry(under: string, numbers?: Record<string, number>): ReadColumn {
    const entries = this.entries(under)
    const { values, derive } = this.#derive(entries.dictionary, numbers)
    this.#derived.push((calls) => derive(calls, (call) => entries.ids[entries.first[call] as number] ?? -1))
    return values
  }

  #derive({ values }: Dictionary, numbers: Record<string, number> | undefined) {
    const column = { values: new Float64Array(0) }
    const known: number[] = []
    const numberOf = (id: number) => {
      const value = values[id] ?? null
      if (numbers) return numbers[JSON.stringify(value)] ?? Number.NaN
      return typeof value === 'number' ? value : Number.NaN
    }
    const derive = (calls: number, idOf: (call: number) => number) => {
      if (column.values.length < calls) column.values = new Float64Array(calls)
      for (let call = 0; call < calls; call++) {
        const id = idOf(call)
        if (id >= 0) known[id] ??= numberOf(id)
        column.values[call] = known[id] ?? Number.NaN
      }
    }
    return { values: column, derive }
  }

  /** @returns how many calls the slice has */
  async load(slice: Statement): Promise<number> {
    this.slice++
    const calls = (await this.#readSlice(slice, listChars)) ?? (await this.#readSlice(slice, listCharsMax))
    if (calls === null) throw new Error('A list of values cannot be read')
    for (const derive of this.#derived) derive(calls)
    return calls
  }

  /** @returns how many calls the slice has; null if a list was cut off */
  async #readSlice(slice: Statement, charsMax: number): Promise<number | null> {
    const columns = [...this.#columns.values()]
    const texts = columns.map(({ text }) => text)
    const params = columns.flatMap(({ start }) => (start === undefined ? [] : [start, charsMax]))
    const [[calls, ...cells] = []] = await this.#read(`select count(*), ${texts.join(', ')} ${slice.sql}`, [
      ...params,
      ...slice.params,
    ])
    const isWhole = columns.map(({ take }, at) => take(String(cells[at] ?? '')))
    return isWhole.includes(false) ? null : Number(calls)
  }

  #add<Column>(
    name: string,
    text: string,
    column: Column,
    taking: (column: Column) => (values: unknown[]) => void,
  ): Column {
    const known = this.#columns.get(name)
    if (known) return known.column as Column
    const take = taking(column)
    this.#columns.set(name, {
      column,
      text,
      take: (values) => {
        take(JSON.parse(values))
        return true
      },
    })
    return column
  }
}

/**
 * Takes the entries that stand at the start of each call's list, where all of one name follow one another; hashes may stand
 * between them. @returns whether no list was cut off among them
 */
function takeEntries(column: ReadEntries, lists: readonly string[], start: string): boolean {
  column.first = new Int32Array(lists.length).fill(-1)
  column.nextOf.length = 0
  column.ids.length = 0
  for (let call = 0; call < lists.length; call++) {
    const list = lists[call] ?? ''
    const isWhole = list === '' || (list.endsWith('"]') && !list.endsWith('\\"]'))
    for (let at = 0; at < list.length || !isWhole; ) {
      if (!isWhole && at + start.length > list.length) return false
      const isEntry = list.startsWith('"[', at)
      if (isEntry && !list.startsWith(start, at)) break
      // Within an entry, a quotation mark follows a backslash.
      const end = isEntry ? list.indexOf(']"', at) + 2 : list.indexOf('"', at + 1) + 1
      if (end < at + 2) return false
      if (isEntry) {
        column.nextOf.push(column.first[call] ?? -1)
        column.first[call] = column.ids.push(column.dictionary.idOfEntry(list.slice(at, end))) - 1
      }
      at = end + 1
    }
  }
  return true
}
