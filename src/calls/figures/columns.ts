import type { Period } from '../finding/period.ts'
import type { ReadRows } from '../finding/scan.ts'
import type { Statement } from '../finding/statement.ts'

/** Of numbers that are written as integers. */
const decimals = 10_000

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

  idOf(value: Value): number {
    const known = this.#ids.get(value)
    if (known !== undefined) return known
    this.#ids.set(value, this.values.length)
    return this.values.push(value) - 1
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
  /** Of the slice, as JSON. */
  text: string
  take: (values: unknown[]) => void
}

/**
 * What the questions of a pass need of each call. SQLite sends a column of a slice as one JSON text, which takes half as
 * long as rows do.
 */
export class Columns {
  readonly #read: ReadRows
  readonly #columns = new Map<string, Read<unknown>>()
  readonly #entries = new Map<string, Read<ReadEntries> & { prefix: string }>()
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
    const known = this.#entries.get(under)
    if (known) return known.column
    const column: ReadEntries = {
      first: new Int32Array(0),
      nextOf: [],
      ids: [],
      dictionary: new Dictionary(),
    }
    this.whole('calls.seq')
    this.#entries.set(under, {
      column,
      text: '',
      take: () => undefined,
      prefix: JSON.stringify([under]).slice(0, -1),
    })
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
    const columns = [...this.#columns.values()]
    const texts = columns.map(({ text }) => text)
    const [row = []] = await this.#read(`select count(*), ${texts.join(', ')} ${slice.sql}`, slice.params)
    const calls = Number(row[0])
    for (const [at, { take }] of columns.entries()) take(calls === 0 ? [] : JSON.parse(String(row[at + 1])))
    if (this.#entries.size > 0) await this.#loadEntries(slice, calls)
    for (const derive of this.#derived) derive(calls)
    return calls
  }

  #add<Column>(
    name: string,
    text: string,
    column: Column,
    taking: (column: Column) => (values: unknown[]) => void,
  ): Column {
    const known = this.#columns.get(name)
    if (known) return known.column as Column
    this.#columns.set(name, { column, text, take: taking(column) })
    return column
  }

  async #loadEntries(slice: Statement, calls: number): Promise<void> {
    const seqs = this.whole('calls.seq').values
    const places = new Map<number, number>()
    for (let call = 0; call < calls; call++) places.set(seqs[call] as number, call)
    for (const { column, prefix } of this.#entries.values()) {
      column.first = new Int32Array(calls).fill(-1)
      column.nextOf.length = 0
      column.ids.length = 0
      if (calls === 0) continue
      const rows = await this.#read(
        `select entry.value, seq from (select calls.seq as seq, case when instr(calls.value_list, ?) > 0 then calls.value_list end as list ${slice.sql}) as found
          cross join json_each(list) as entry where entry.value >= ? and entry.value < ?`,
        [JSON.stringify(`${prefix},`).slice(0, -1), ...slice.params, `${prefix},`, `${prefix}-`],
      )
      for (const [value, seq] of rows) {
        const call = places.get(Number(seq))
        if (call === undefined) continue
        const [, own] = JSON.parse(String(value)) as [string, Value]
        this.#push(column, call, column.dictionary.idOf(own))
      }
    }
  }

  #push(column: ReadEntries, call: number, id: number): void {
    column.nextOf.push(column.first[call] as number)
    column.first[call] = column.ids.push(id) - 1
  }
}
