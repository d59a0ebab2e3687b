import { FieldFault } from './event.ts'

/** The last millisecond of the year 9999. */
export const instantMax = Date.UTC(9999, 11, 31, 23, 59, 59, 999)
/** Numbers below are seconds since 1970: as milliseconds they would be before 1973. */
const secondsMax = 1e11
const urlCharsMax = 4_096
const noNumbers = new Set(['anonymous', 'unknown', 'restricted', 'unavailable'])

/**
 * Reads named fields of an event, and nothing else. What is missing, null or empty is undefined; what is of another
 * type is a fault that names the field.
 */
export class Fields {
  readonly #value: Readonly<Record<string, unknown>>
  readonly #path: string

  private constructor(value: Readonly<Record<string, unknown>>, path: string) {
    this.#value = value
    this.#path = path
  }

  static of(body: unknown): Fields {
    return Fields.#from(body, 'body')
  }

  static #from(value: unknown, path: string): Fields {
    if (isEmpty(value)) return new Fields({}, path)
    if (!isObject(value)) throw new FieldFault(path, 'must be an object')
    return new Fields(value, path === 'body' ? '' : path)
  }

  /** The names of its members. */
  get names(): string[] {
    return Object.keys(this.#value)
  }

  has(name: string): boolean {
    return !isEmpty(this.#value[name])
  }

  /** Without members where there is none. */
  object(name: string): Fields {
    return Fields.#from(this.#value[name], this.#fieldOf(name))
  }

  /** Empty where there is none. */
  list(name: string): Fields[] {
    const value = this.#value[name]
    if (isEmpty(value)) return []
    if (!Array.isArray(value)) throw this.fault(name, 'must be an array')
    return value.map((entry, at) => Fields.#from(entry, `${this.#fieldOf(name)}.${at}`))
  }

  /** Trimmed. */
  text(name: string): string | undefined {
    const value = this.#value[name]
    if (isEmpty(value)) return undefined
    if (typeof value !== 'string') throw this.fault(name, 'must be a string')
    return value.trim() || undefined
  }

  /** Numbers are also written as text. */
  number(name: string): number | undefined {
    const value = this.#value[name]
    if (isEmpty(value)) return undefined
    const number = typeof value === 'string' ? Number(value) : value
    if (typeof number !== 'number' || !Number.isFinite(number)) throw this.fault(name, 'must be a number')
    return number
  }

  boolean(name: string): boolean | undefined {
    const value = this.#value[name]
    if (isEmpty(value)) return undefined
    if (typeof value !== 'boolean') throw this.fault(name, 'must be a boolean')
    return value
  }

  /** Milliseconds since 1970, of an ISO time or of a number of seconds or milliseconds. */
  time(name: string): number | undefined {
    const value = this.#value[name]
    if (isEmpty(value)) return undefined
    const number = typeof value === 'string' || typeof value === 'number' ? Number(value) : Number.NaN
    const isText = typeof value === 'string' && Number.isNaN(number)
    const time = isText ? parseTime(value) : number < secondsMax ? number * 1_000 : number
    if (!(time >= 0 && time <= instantMax)) throw this.fault(name, 'must be a time')
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
    if (!text || text.length > urlCharsMax || !URL.canParse(text)) return undefined
    const { protocol, search, hash, username, password } = new URL(text)
    return protocol === 'https:' && !search && !hash && !username && !password ? text : undefined
  }

  /** A value of the project's own, never interpreted. */
  own(name: string): unknown {
    return isEmpty(this.#value[name]) ? undefined : this.#value[name]
  }

  fault(name: string, message: string): FieldFault {
    return new FieldFault(this.#fieldOf(name), message)
  }

  /** @throws FieldFault */
  required(name: string): string {
    const text = this.text(name)
    if (text === undefined) throw this.fault(name, 'is required')
    return text
  }

  #fieldOf(name: string): string {
    return this.#path ? `${this.#path}.${name}` : name
  }
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
