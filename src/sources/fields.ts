/** The last millisecond of the year 9999. */
export const instantMax = Date.UTC(9999, 11, 31, 23, 59, 59, 999)
/** Numbers below are seconds since 1970: as milliseconds they would be before 1973. */
const secondsMax = 1e11
const urlCharsMax = 4_096
const noNumbers = new Set(['anonymous', 'unknown', 'restricted', 'unavailable'])

/** A field of an event that is not as expected. */
export class FieldFault extends Error {
  readonly field: string

  constructor(field: string, message: string) {
    super(message)
    this.field = field
  }
}

/** What was read of an event, to be kept when something is wrong with it. */
export interface Reading {
  /** The fields that were read, in their places, and no others. */
  readonly kept: Record<string, unknown>
  /** The first. */
  fault: FieldFault | null
}

/**
 * Reads named fields of an event, and nothing else. What is missing, null or empty is undefined; what is of another
 * type is a fault that names the field: it is thrown, or, where the reading is recorded, noted and passed over.
 */
export class Fields {
  readonly #value: Readonly<Record<string, unknown>>
  readonly #path: string
  readonly #kept: Record<string, unknown>
  readonly #reading: Reading | null

  private constructor(
    value: Readonly<Record<string, unknown>>,
    path: string,
    reading: Reading | null,
    kept: Record<string, unknown>,
  ) {
    this.#value = value
    this.#path = path
    this.#reading = reading
    this.#kept = kept
  }

  /** @param reading records what is read; null where nobody asks */
  static of(body: unknown, reading: Reading | null = null): Fields {
    return Fields.#from(body, 'body', reading, reading?.kept ?? {})
  }

  static #from(value: unknown, path: string, reading: Reading | null, kept: Record<string, unknown>): Fields {
    if (isEmpty(value)) return new Fields({}, path, reading, kept)
    if (!isObject(value)) {
      fail(reading, new FieldFault(path, 'must be an object'))
      return new Fields({}, path, reading, kept)
    }
    return new Fields(value, path === 'body' ? '' : path, reading, kept)
  }

  /** The names of its members. */
  get names(): string[] {
    return Object.keys(this.#value)
  }

  has(name: string): boolean {
    const value = this.#value[name]
    if (this.#reading) this.#kept[name] ??= shapeOf(value)
    return !isEmpty(value)
  }

  /** Without members where there is none. */
  object(name: string): Fields {
    const value = this.#value[name]
    const kept = this.#keepPart(name, value)
    return Fields.#from(value, this.#fieldOf(name), this.#reading, kept)
  }

  /** Empty where there is none. */
  list(name: string): Fields[] {
    const value = this.#take(name)
    if (isEmpty(value)) return []
    if (!Array.isArray(value)) {
      this.#fail(name, 'must be an array')
      return []
    }
    const entries: unknown[] = value.map(shapeOf)
    if (this.#reading) this.#kept[name] = entries
    return value.map((entry, at) => {
      const kept = entries[at]
      return Fields.#from(entry, `${this.#fieldOf(name)}.${at}`, this.#reading, isObject(kept) ? kept : {})
    })
  }

  /** Trimmed. */
  text(name: string): string | undefined {
    const value = this.#take(name)
    if (isEmpty(value)) return undefined
    if (typeof value !== 'string') return this.#fail(name, 'must be a string')
    return value.trim() || undefined
  }

  /** Numbers are also written as text. */
  number(name: string): number | undefined {
    const value = this.#take(name)
    if (isEmpty(value)) return undefined
    const number = typeof value === 'string' ? Number(value) : value
    if (typeof number !== 'number' || !Number.isFinite(number)) return this.#fail(name, 'must be a number')
    return number
  }

  boolean(name: string): boolean | undefined {
    const value = this.#take(name)
    if (isEmpty(value)) return undefined
    if (typeof value !== 'boolean') return this.#fail(name, 'must be a boolean')
    return value
  }

  /** Milliseconds since 1970, of an ISO time or of a number of seconds or milliseconds. */
  time(name: string): number | undefined {
    const value = this.#take(name)
    if (isEmpty(value)) return undefined
    const number = typeof value === 'string' || typeof value === 'number' ? Number(value) : Number.NaN
    const isText = typeof value === 'string' && Number.isNaN(number)
    const time = isText ? parseTime(value) : number < secondsMax ? number * 1_000 : number
    if (!(time >= 0 && time <= instantMax)) return this.#fail(name, 'must be a time')
    return Math.round(time)
  }

  /** A number to call, a SIP address or a client's name. */
  phoneNumber(name: string): string | undefined {
    const number = this.text(name)
    return number && !noNumbers.has(number.toLowerCase()) ? number : undefined
  }

  /** A link that opens for everybody or for its owner's key: one with a query or a user may carry a key of its own. */
  openUrl(name: string): string | undefined {
    const text = this.text(name)
    // One that may carry a key is not kept either.
    if (text !== undefined) delete this.#kept[name]
    if (!text || text.length > urlCharsMax || !URL.canParse(text)) return undefined
    const { protocol, search, hash, username, password } = new URL(text)
    if (protocol !== 'https:' || search || hash || username || password) return undefined
    if (this.#reading) this.#kept[name] = text
    return text
  }

  /** A value of the project's own, never interpreted. */
  own(name: string): unknown {
    const value = this.#value[name]
    if (isEmpty(value)) return undefined
    if (this.#reading) this.#kept[name] = value
    return value
  }

  /** Empty where the reading is recorded and there is none. */
  required(name: string): string {
    const text = this.text(name)
    if (text === undefined && !this.#reading?.fault) this.#fail(name, 'is required')
    return text ?? ''
  }

  /** The value of a member that is read. */
  #take(name: string): unknown {
    const value = this.#value[name]
    if (this.#reading && !isEmpty(value)) this.#kept[name] = shapeOf(value)
    return value
  }

  /** Where the members that are read of an object are kept: in one place, however often it is read. */
  #keepPart(name: string, value: unknown): Record<string, unknown> {
    const known = this.#kept[name]
    if (!this.#reading || (isObject(value) && isObject(known))) return isObject(known) ? known : {}
    const part = isObject(value) ? {} : shapeOf(value)
    if (!isEmpty(value)) this.#kept[name] = part
    return isObject(part) ? part : {}
  }

  #fail(name: string, message: string): undefined {
    fail(this.#reading, new FieldFault(this.#fieldOf(name), message))
  }

  #fieldOf(name: string): string {
    return this.#path ? `${this.#path}.${name}` : name
  }
}

/** @throws the fault, unless the reading is recorded */
function fail(reading: Reading | null, fault: FieldFault): void {
  if (!reading) throw fault
  reading.fault ??= fault
}

/** A value without the members of an object or a list, which may hold anything: enough to be the same fault again. */
function shapeOf(value: unknown): unknown {
  return Array.isArray(value) ? [] : isObject(value) ? {} : value
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A time without a zone is UTC, as servers write it. */
function parseTime(text: string): number {
  const isLocal = /^\d{4}-\d{2}-\d{2}[T ][\d:.]+$/.test(text)
  return Date.parse(isLocal ? `${text.replace(' ', 'T')}Z` : text)
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || value === ''
}
