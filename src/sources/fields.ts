/** The last millisecond of the year 9999. */
export const instantMax = Date.UTC(9999, 11, 31, 23, 59, 59, 999)
/** Times below this are in seconds: in milliseconds they would be before 1973. */
const secondsMax = 1e11
const urlCharsMax = 4_096
/** How many entries of a list or members of an object are read: far more than a call has. */
const entriesMax = 20_000
const noNumbers = new Set(['anonymous', 'unknown', 'restricted', 'unavailable'])

/** A field of an event that is not as expected. */
export class FieldFault extends Error {
  readonly field: string

  constructor(field: string, message: string) {
    super(message)
    this.field = field
  }
}

/** A copy of which fields were read, to keep them if the event has a fault. */
export interface Reading {
  /** The event with only the fields that were read. */
  readonly copy: Record<string, unknown>
  /** The first fault. */
  fault: FieldFault | null
}

/**
 * Reads named fields of an event. A field that is missing, null or empty is undefined. A field of the wrong type is a
 * fault: it is thrown or, with a reading, recorded there and treated as missing.
 */
export class Fields {
  readonly #value: Readonly<Record<string, unknown>>
  readonly #path: string
  readonly #copy: Record<string, unknown>
  readonly #reading: Reading | null
  /** Whether its members have names that the event has chosen: those are not told. */
  #isMap = false

  private constructor(
    value: Readonly<Record<string, unknown>>,
    path: string,
    reading: Reading | null,
    copy: Record<string, unknown>,
  ) {
    this.#value = value
    this.#path = path
    this.#reading = reading
    this.#copy = copy
  }

  /** @param reading records what is read; null for no copy */
  static of(body: unknown, reading: Reading | null = null): Fields {
    return Fields.#from(body, 'body', reading, reading?.copy ?? noMembers())
  }

  static #from(value: unknown, path: string, reading: Reading | null, copy: Record<string, unknown>): Fields {
    if (isEmpty(value)) return new Fields({}, path, reading, copy)
    if (!isObject(value)) {
      fail(reading, path, 'must be an object')
      return new Fields({}, path, reading, copy)
    }
    return new Fields(value, path === 'body' ? '' : path, reading, copy)
  }

  /** The names of its members; further ones are cut off. */
  get names(): string[] {
    this.#isMap = true
    return Object.keys(this.#value).slice(0, entriesMax)
  }

  has(name: string): boolean {
    const value = this.#value[name]
    if (this.#reading) this.#copy[name] ??= shapeOf(value)
    return !isEmpty(value)
  }

  /** A member that is an object; without members if it is missing. */
  object(name: string): Fields {
    const value = this.#value[name]
    const copy = this.#keepPart(name, value)
    return Fields.#from(value, this.#fieldOf(name), this.#reading, copy)
  }

  /** A member that is a list; empty if it is missing. Further entries are cut off. */
  list(name: string): Fields[] {
    const value = this.#take(name)
    if (isEmpty(value)) return []
    if (!Array.isArray(value)) {
      this.#fail(name, 'must be an array')
      return []
    }
    const read: unknown[] = value.slice(0, entriesMax)
    const entries = read.map(shapeOf)
    if (this.#reading) this.#copy[name] = entries
    return read.map((entry, at) => {
      const copy = entries[at]
      const path = `${this.#fieldOf(name)}.${at}`
      return Fields.#from(entry, path, this.#reading, isObject(copy) ? copy : noMembers())
    })
  }

  /** A text, trimmed. */
  text(name: string): string | undefined {
    const value = this.#take(name)
    if (isEmpty(value)) return undefined
    if (typeof value !== 'string') return this.#fail(name, 'must be a string')
    return value.trim() || undefined
  }

  /** A number, which may be written as text. */
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

  /** Milliseconds since 1970, from an ISO time or a number of seconds or milliseconds. */
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

  /** An https link without a query, fragment or user, any of which may carry a key. */
  openUrl(name: string): string | undefined {
    const text = this.text(name)
    // The copy must not keep a link that may carry a key.
    if (text !== undefined) delete this.#copy[name]
    if (!text || text.length > urlCharsMax || !URL.canParse(text)) return undefined
    const { protocol, search, hash, username, password } = new URL(text)
    if (protocol !== 'https:' || search || hash || username || password) return undefined
    if (this.#reading) this.#copy[name] = text
    return text
  }

  /** A link of any kind. It may carry a key, so it is neither stored with the call nor recorded. */
  address(name: string): string | undefined {
    const text = this.text(name)
    if (text !== undefined) delete this.#copy[name]
    return text && text.length <= urlCharsMax && URL.canParse(text) ? text : undefined
  }

  /** A value whose type the caller checks. The copy has no members of it. */
  plain(name: string): unknown {
    const value = this.#take(name)
    return isEmpty(value) ? undefined : value
  }

  /** A value of the project's own, of any shape. The copy has it whole. */
  own(name: string): unknown {
    const value = this.#value[name]
    if (isEmpty(value)) return undefined
    if (this.#reading) this.#copy[name] = value
    return value
  }

  /** The members, of any shape, of an object of the project's own; none if it is not an object. */
  ownMembers(name: string, pattern = /^/): Record<string, unknown> {
    const value = this.#value[name]
    if (!isObject(value)) return {}
    const members = Object.entries(value).filter(([key, member]) => !isEmpty(member) && pattern.test(key))
    Object.assign(this.#keepPart(name, value), Object.fromEntries(members))
    return Object.fromEntries(members)
  }

  /** A text that must be present; with a reading, empty if it is missing. */
  required(name: string): string {
    const text = this.text(name)
    if (text === undefined && !this.#reading?.fault) this.#fail(name, 'is required')
    return text ?? ''
  }

  /** Reads a value and records it without its members. */
  #take(name: string): unknown {
    const value = this.#value[name]
    if (this.#reading && !isEmpty(value)) this.#copy[name] = shapeOf(value)
    return value
  }

  /** The record for an object's members: the same one, however often the object is read. */
  #keepPart(name: string, value: unknown): Record<string, unknown> {
    const old = this.#copy[name]
    if (!this.#reading || (isObject(value) && isObject(old))) return isObject(old) ? old : noMembers()
    const part = shapeOf(value)
    if (!isEmpty(value)) this.#copy[name] = part
    return isObject(part) ? part : noMembers()
  }

  #fail(name: string, message: string): undefined {
    fail(this.#reading, this.#fieldOf(name), message)
  }

  #fieldOf(name: string): string {
    const segment = this.#isMap ? '*' : name
    return this.#path ? `${this.#path}.${segment}` : segment
  }
}

/** Throws the fault, unless there is a reading to copy it. */
function fail(reading: Reading | null, field: string, message: string): void {
  if (!reading) throw new FieldFault(field, message)
  reading.fault ??= new FieldFault(field, message)
}

/** Returns an object without a prototype: an event may name a member `__proto__`. */
function noMembers(): Record<string, unknown> {
  return Object.create(null)
}

/** A value without its members, which may hold anything: enough to cause the same fault again. */
function shapeOf(value: unknown): unknown {
  return Array.isArray(value) ? [] : isObject(value) ? noMembers() : value
}

/** The list in an answer: a member, or the answer itself. @throws FieldFault unless it is one */
export function listIn(answer: unknown, name?: string): unknown[] {
  const list = name === undefined ? answer : isObject(answer) ? answer[name] : undefined
  if (!Array.isArray(list)) throw new FieldFault(name ?? 'body', 'must be an array')
  return list
}

/** A path with those members of a query that are not null. */
export function withQuery(path: string, query: Readonly<Record<string, string | number | null>>): string {
  const members = Object.entries(query).flatMap(([name, value]) =>
    value === null ? [] : [[name, `${value}`]],
  )
  return `${path}?${new URLSearchParams(members)}`
}

/** The cursor in the URL of the next page. The URL itself, which comes from outside, is not asked. @throws FieldFault */
export function cursorOfNext(answer: unknown): string | null {
  const next = Fields.of(answer).address('next')
  return next === undefined ? null : new URL(next).searchParams.get('cursor')
}

/** The cursor in an answer, where it says that there is more. @throws FieldFault */
export function cursorIn(answer: unknown, [more, cursor]: readonly [string, string]): string | null {
  const fields = Fields.of(answer)
  return fields.boolean(more) === true ? fields.required(cursor) : null
}

/** How many entries a page shares with the one before it, since one that is deleted meanwhile moves the others. */
const overlap = 10

/** The place of the next page's first entry, where a platform counts them; null after the last page. */
export function placeAfter(
  items: readonly unknown[],
  { cursor, pageSize }: { cursor: string | null; pageSize: number },
): string | null {
  const next = Number(cursor ?? 0) + pageSize - Math.min(overlap, Math.floor(pageSize / 2))
  return items.length < pageSize ? null : String(next)
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A time without a zone is read as UTC. */
function parseTime(text: string): number {
  const isLocal = /^\d{4}-\d{2}-\d{2}[T ][\d:.]+$/.test(text)
  return Date.parse(isLocal ? `${text.replace(' ', 'T')}Z` : text)
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || value === ''
}
