import type { Columns, ReadColumn, ReadEntries } from './columns.ts'
import type { Grouping } from './question.ts'
import { type TimeGroup, TimeGroups } from './time-groups.ts'

/** The groups of calls by one grouping, by small numbers. */
export interface Key {
  /** Whether a call may be in several. */
  readonly entries: boolean
  /** Of each call of the slice its one group; -1 for none. */
  keysOf(calls: number): Int32Array
  /** All groups of a call of the slice. */
  allOf(call: number): number[]
  nameOf(key: number): string | number | null
}

export function keyOf(grouping: Grouping, columns: Columns): Key {
  switch (grouping.kind) {
    case 'time':
      return columns.shared(`time ${grouping.unit} ${grouping.zone}`, () => new TimeKey(grouping, columns))
    case 'bounds':
      return new BoundsKey(grouping, columns)
    case 'value':
      return columns.shared(`by ${JSON.stringify(grouping)}`, () => new ValueKey(grouping, columns))
  }
}

/** Computes the groups of a slice once for all questions. */
abstract class SliceKey implements Key {
  readonly entries: boolean = false
  #keys = new Int32Array(0)
  #slice = -1
  readonly #columns: Columns

  constructor(columns: Columns) {
    this.#columns = columns
  }

  keysOf(calls: number): Int32Array {
    if (this.#slice === this.#columns.slice) return this.#keys
    this.#slice = this.#columns.slice
    if (this.#keys.length < calls) this.#keys = new Int32Array(calls)
    this.fill(this.#keys, calls)
    return this.#keys
  }

  allOf(call: number): number[] {
    const key = this.#keys[call] as number
    return key < 0 ? [] : [key]
  }

  abstract nameOf(key: number): string | number | null
  protected abstract fill(keys: Int32Array, calls: number): void
}

class TimeKey extends SliceKey {
  readonly #groups: TimeGroups
  readonly #createdAt: ReadColumn
  readonly #known = new Map<number, number>()
  readonly #names: number[] = []

  constructor({ unit, zone }: Extract<Grouping, { kind: 'time' }>, columns: Columns) {
    super(columns)
    this.#groups = new TimeGroups(unit, zone)
    this.#createdAt = columns.whole('calls.created_at')
  }

  protected fill(keys: Int32Array, calls: number): void {
    const times = this.#createdAt.values
    let current: TimeGroup = { name: 0, from: 0, to: 0 }
    let key = -1
    for (let call = 0; call < calls; call++) {
      const at = times[call] as number
      // Most calls are in the group of the one before.
      if (at < current.from || at >= current.to) {
        current = this.#groups.of(at)
        key = this.#known.get(current.name) ?? this.#names.push(current.name) - 1
        this.#known.set(current.name, key)
      }
      keys[call] = key
    }
  }

  nameOf(key: number): number {
    return this.#names[key] ?? 0
  }
}

class BoundsKey extends SliceKey {
  readonly #number: ReadColumn
  readonly #bounds: readonly number[]

  constructor({ column, bounds }: Extract<Grouping, { kind: 'bounds' }>, columns: Columns) {
    super(columns)
    this.#number = columns.number(column)
    this.#bounds = bounds
  }

  protected fill(keys: Int32Array, calls: number): void {
    const [numbers, bounds] = [this.#number.values, this.#bounds]
    for (let call = 0; call < calls; call++) {
      const number = numbers[call] as number
      let reached = Number.isNaN(number) ? -1 : 0
      if (reached === 0) while (reached < bounds.length && number >= (bounds[reached] as number)) reached++
      keys[call] = reached
    }
  }

  nameOf(key: number): number {
    return key
  }
}

/** By the texts of values: what the same text finds is in one group. */
class ValueKey extends SliceKey {
  override readonly entries: boolean
  readonly #column: ReturnType<Columns['value']> | null
  readonly #entries: ReadEntries | null
  readonly #hasNone: boolean
  readonly #isSparse: boolean
  readonly #known = new Map<string | null, number>()
  readonly #names: (string | null)[] = []
  /** By the numbers of values in the dictionaries. */
  readonly #ofColumn: number[] = []
  readonly #ofEntries: number[] = []

  constructor(
    { column, entries, hasNone = false, isSparse = false }: Extract<Grouping, { kind: 'value' }>,
    columns: Columns,
  ) {
    super(columns)
    this.#isSparse = isSparse
    this.#column = column === undefined ? null : columns.value(column)
    this.#entries = entries === undefined ? null : columns.entries(entries)
    this.entries = this.#entries !== null
    this.#hasNone = hasNone
  }

  protected fill(keys: Int32Array, calls: number): void {
    if (!this.#column) return
    const { ids, dictionary } = this.#column
    const known = this.#ofColumn
    for (let call = 0; call < calls; call++) {
      const id = ids[call] as number
      keys[call] = known[id] ??= this.#keyOfColumn(dictionary.values[id] ?? null)
    }
  }

  override allOf(call: number): number[] {
    const keys = this.#column ? super.allOf(call) : []
    const entries = this.#entries
    for (
      let at = entries ? (entries.first[call] as number) : -1;
      entries && at >= 0;
      at = entries.nextOf[at] as number
    ) {
      const id = entries.ids[at] as number
      this.#ofEntries[id] ??= this.#keyOf(entries.dictionary.values[id] ?? null)
      keys.push(this.#ofEntries[id])
    }
    return keys.length === 0 && this.#hasNone ? [this.#keyOf(null)] : keys
  }

  nameOf(key: number): string | null {
    return this.#names[key] ?? null
  }

  #keyOfColumn(value: string | number | boolean | null): number {
    return value === null && this.#isSparse ? -1 : this.#keyOf(value)
  }

  #keyOf(value: string | number | boolean | null): number {
    const name = value === null ? null : String(value)
    const key = this.#known.get(name) ?? this.#names.push(name) - 1
    this.#known.set(name, key)
    return key
  }
}
