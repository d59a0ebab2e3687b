import {
  type ObjectOptions,
  type Static,
  type TObject,
  type TProperties,
  type TSchema,
  Type,
} from '@sinclair/typebox'
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import { type FieldError, invalidRequest } from './errors.ts'
import { limits } from './limits.ts'

const nameCharsMax = 200
const membersMax = limits.jsonMembers.most
const memberBytesMin = 2
const [space, quote, comma, backslash, openingBrace, closingBrace] = [0x20, 0x22, 0x2c, 0x5c, 0x7b, 0x7d]

// Joiners, variation selectors and tags where they shape what is seen: https://www.unicode.org/reports/tr31/#Layout_and_Format_Control_Characters
// and https://www.unicode.org/reports/tr51/#Emoji_Sequences
const scriptsWithJoiners =
  'Arab Syrc Nkoo Mong Deva Beng Guru Gujr Orya Taml Telu Knda Mlym Sinh Khmr Mymr Tibt'
    .split(' ')
    .map((script) => `\\p{scx=${script}}`)
    .join('')
const spelling = [
  `(?<=[${scriptsWithJoiners}])[\\u200c\\u200d](?=[${scriptsWithJoiners}])`,
  // Malayalam words may end in this way.
  '(?<=\\u0d4d)\\u200d',
  '(?<=\\p{scx=Mong})[\\u180b-\\u180f]',
  '(?<=\\p{scx=Han})[\\ufe00-\\ufe02\\u{e0100}-\\u{e01ef}]',
  '(?<=[\\p{Extended_Pictographic}\\p{Emoji_Modifier}\\ufe0f])\\u200d(?=\\p{Extended_Pictographic})',
  '(?<=\\p{Extended_Pictographic})[\\ufe0e\\ufe0f]',
  '(?<=[0-9#*])\\ufe0f(?=\\u20e3)',
  '(?<=\\u{1f3f4})[\\u{e0030}-\\u{e007a}]{2,6}\\u{e007f}',
].join('|')
// The last three are not ignorable, but show nothing: an empty Braille pattern, hieroglyphic controls, a null notehead.
const hiddenCharacter =
  '[\\p{Cc}\\p{Zl}\\p{Zp}\\p{Default_Ignorable_Code_Point}\\ufff9-\\ufffb\\u2800\\u{13430}-\\u{1343f}\\u{1d159}]'
const spelledOrHidden = new RegExp(`(${spelling})|${hiddenCharacter}`, 'gu')

// As alternatives, because many languages misread a range beyond U+FFFF.
const hiddenBeyondBmp = [
  0x1d159,
  ...range(0x13430, 0x1343f),
  ...range(0x1bca0, 0x1bca3),
  ...range(0x1d173, 0x1d17a),
]
  .map((code) => String.fromCodePoint(code))
  .join('|')

// Tags, and what lies beyond them. A language whose characters are UTF-16 units reads U+DB3F for U+DFFFD, and so a
// class without any character above U+001F.
const beyondTags = '[^ -\u{dfffd}\\ud7ff-\\uffff]'

/**
 * The pattern of names for the OpenAPI document, in a form that every language reads: something that is not white
 * space, and none of these characters. Names may also have joiners, variation selectors and tags where they change what
 * is seen, and private characters beyond U+DFFFD.
 */
export const plainNamePattern =
  `^(?=.*[^\\s\\ufeff])(?!.*(?:${hiddenBeyondBmp}|${beyondTags}))[^\\u0000-\\u001f\\u007f-\\u009f\\u00ad\\u034f\\u061c\\u115f\\u1160` +
  '\\u17b4\\u17b5\\u180b-\\u180f\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f\\u2800\\u3164\\ufe00-\\ufe0f\\ufeff\\uffa0\\ufff0-\\ufffb]+$'

function range(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, at) => first + at)
}

/**
 * The problem with a name of a person, a project, a key or an item; null for a valid name. Invisible characters, and
 * those that change the text's direction, would let one name pass for another.
 */
export function nameProblem(name: string): string | null {
  if (name.trim() === '') return 'must not be blank'
  if ([...name].length > nameCharsMax) return `must be at most ${nameCharsMax} characters`
  return name.isWellFormed() ? hiddenProblem(name) : 'must not contain a lone surrogate'
}

/** Removes the characters that no name may contain. */
export function withoutHidden(name: string): string {
  return name
    .replace(spelledOrHidden, (character, spelled) => spelled ?? (/\s/.test(character) ? ' ' : ''))
    .trim()
}

function hiddenProblem(text: string): string | null {
  for (const [character, spelled] of text.matchAll(spelledOrHidden)) {
    if (spelled !== undefined) continue
    const code = character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')
    return `must not contain U+${code}: control, direction and invisible characters are not allowed`
  }
  return null
}

/** The body of a request that needs none. */
export const NoMembers = Type.Object({}, { title: 'NoMembers' })

/** The most errors in one answer: 10,000 bad turns do not need 10,000 sentences. */
const fieldErrorsMax = 50

/** The schema of an object, which has this name in the OpenAPI document. */
export function named<Properties extends TProperties>(
  title: string,
  properties: Properties,
  options?: ObjectOptions,
): TObject<Properties> {
  return Type.Object(properties, { title, ...options })
}

/**
 * Compiles a TypeBox schema, which is JSON Schema, into a check that returns the value or throws `invalid_request` with
 * one entry a field. Ajv counts lengths in code points, as JSON Schema says; TypeBox's own checker does not.
 * @param further finds errors that the schema cannot express. It runs only on a value that fails the schema, without
 * the bad fields, so that one answer names all errors. For a value that passes, the caller runs it.
 */
export function compileCheck<S extends TSchema>(
  schema: S,
  further?: (value: Static<S>) => FieldError[],
): (value: unknown) => Static<S> {
  let validate: ValidateFunction | undefined
  return (value) => {
    validate ??= new Ajv({ allErrors: true, strict: false, verbose: true, formats, keywords }).compile(
      withGuardedItems(schema),
    )
    if (validate(value)) return value as Static<S>
    const failures = validate.errors ?? []
    const others = further?.(withoutFields(value, failures) as Static<S>) ?? []
    const errors = fieldErrors(failures)
    const fields = new Set(failures.filter(isReported).map(fieldName))
    throw invalidRequest([...errors, ...others].slice(0, fieldErrorsMax), fields.size + others.length)
  }
}

function withoutFields(value: unknown, errors: readonly ErrorObject[]): object {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return {}
  const atFault = new Set(errors.map((error) => fieldPath(error)[0]))
  return Object.fromEntries(Object.entries(value).filter(([name]) => !atFault.has(name)))
}

/** `name`: see `nameProblem`. Other keywords check the length, so a name that is far too long is skipped. */
const formats = {
  // Our patterns are stricter.
  'date-time': true as const,
  name: (text: string) => text.length > 2 * nameCharsMax || hiddenProblem(text) === null,
}

/** The most bytes of UTF-8 that a text may have. */
const keywords = [
  {
    keyword: 'x-bytesMax',
    type: 'string' as const,
    validate: (bytesMax: number, text: string) => Buffer.byteLength(text) <= bytesMax,
  },
]

/** Checks an array's entries only when it is not too long: millions of entries could each be an error. */
function withGuardedItems(schema: object): object {
  const entries = Object.entries(schema).map(([key, part]) => [
    key,
    typeof part === 'object' && part !== null && !Array.isArray(part) ? withGuardedItems(part) : part,
  ])
  const { items, ...rest } = Object.fromEntries(entries)
  if (items === undefined || rest.maxItems === undefined) return Object.fromEntries(entries)
  return { ...rest, if: { minItems: rest.maxItems + 1 }, else: { items } }
}

/**
 * A check of a request body in the form that Elysia accepts (https://standardschema.dev). The validator is not
 * enumerable, so that a copy for the documentation holds only the schema.
 */
export function bodyOf<S extends TSchema>(
  schema: S,
  further?: (value: Static<S>) => FieldError[],
): BodySchema<Static<S>> {
  const check = compileCheck(schema, further)
  const standard = { version: 1, vendor: 'callbook', validate: (value: unknown) => ({ value: check(value) }) }
  return Object.defineProperty({ ...schema }, '~standard', { value: standard }) as unknown as BodySchema<
    Static<S>
  >
}

interface BodySchema<Output> {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => { value: Output }
    readonly types?: { readonly input: Output; readonly output: Output }
  }
}

function fieldErrors(errors: ErrorObject[]): FieldError[] {
  const byField = new Map<string, string>()
  for (const error of errors) {
    if (!isReported(error)) continue
    // A failed `anyOf` reports each alternative first and itself last. Its own message is the useful one.
    const field = fieldName(error)
    if (!byField.has(field) || error.keyword === 'anyOf') byField.set(field, sentence(error))
    if (byField.size >= fieldErrorsMax) break
  }
  return Array.from(byField, ([field, message]) => ({ field, message }))
}

/** The errors inside an `if` are reported themselves. */
function isReported({ keyword }: ErrorObject): boolean {
  return keyword !== 'if'
}

function fieldName(error: ErrorObject): string {
  return fieldPath(error).join('.') || 'body'
}

function fieldPath(error: ErrorObject): string[] {
  const path = error.instancePath.split('/').slice(1).map(unescapePointer)
  if (error.keyword === 'required') path.push(String(error.params.missingProperty))
  return path
}

/** JSON Pointer writes `/` as `~1` and `~` as `~0` (RFC 6901). */
function unescapePointer(part: string): string {
  return part.replaceAll('~1', '/').replaceAll('~0', '~')
}

function sentence(error: ErrorObject): string {
  const message = (error.parentSchema as { 'x-message'?: string } | undefined)?.['x-message']
  switch (error.keyword) {
    case 'required':
      return 'is required'
    case 'minLength':
      return error.params.limit === 1
        ? 'must not be empty'
        : `must be at least ${error.params.limit} characters`
    case 'maxLength':
      return `must be at most ${error.params.limit} characters`
    case 'x-bytesMax':
      return `must be at most ${error.schema} bytes of UTF-8`
    case 'minItems':
      return `must have at least ${error.params.limit} ${error.params.limit === 1 ? 'entry' : 'entries'}`
    case 'maxItems':
      return `must have at most ${error.params.limit} entries`
    case 'minimum':
      return `must be at least ${error.params.limit}`
    case 'maximum':
      return `must be at most ${error.params.limit}`
    case 'type':
      // People send other forms, such as seconds since 1970, so they need an example.
      if (message && error.parentSchema?.format === 'date-time') return message
      return `must be ${withArticle(error.params.type)}`
    case 'enum':
      return `must be one of ${(error.params.allowedValues as unknown[]).filter((value) => value !== null).join(', ')}`
    case 'format':
      return (typeof error.data === 'string' && hiddenProblem(error.data)) || 'is not valid'
    case 'const':
      return `must be ${JSON.stringify(error.params.allowedValue)}`
    default:
      return message ?? error.message ?? 'is not valid'
  }
}

function withArticle(type: string | string[]): string {
  const names = Array.isArray(type) ? type : [type]
  return names
    .map((name) => (name === 'null' ? name : /^[aeiou]/.test(name) ? `an ${name}` : `a ${name}`))
    .join(' or ')
}

/** The value of a JSON text; undefined if it is not JSON, or has too many members: no JSON value is. */
export function jsonOf(text: string): unknown {
  return hasTooManyMembers(text) ? undefined : parseJsonText(text)
}

/** The value of a JSON text whose members were counted; undefined if it is not JSON. */
export function parseJsonText(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * Whether the objects and arrays of a JSON text have more members than any may have: parsed, a member takes up to a
 * hundred times its bytes. Counts them without parsing: each has a comma before it, or is the first.
 */
export function hasTooManyMembers(json: Uint8Array | string): boolean {
  if (json.length <= membersMax * memberBytesMin) return false
  const bytes = typeof json === 'string' ? Buffer.from(json) : json
  let members = 0
  let isFirst = false
  for (let at = 0; at < bytes.length && members <= membersMax; at++) {
    const byte = bytes[at] ?? 0
    if (byte <= space) continue
    // With this bit, brackets are braces.
    const brace = byte | 0x20
    if (byte === comma || (isFirst && brace !== closingBrace)) members++
    isFirst = brace === openingBrace
    if (byte === quote) at = endOfText(bytes, at)
  }
  return members > membersMax
}

function endOfText(bytes: Uint8Array, start: number): number {
  let at = start + 1
  while (at < bytes.length && bytes[at] !== quote) at += bytes[at] === backslash ? 2 : 1
  return at
}

/** The value at a path within what another program sent; undefined where nothing is. */
export function valueAt(value: unknown, ...path: readonly (string | number)[]): unknown {
  const [name, ...rest] = path
  if (name === undefined) return value
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined
  return valueAt(Reflect.get(value, name), ...rest)
}

/** Levels of nesting a field's value may have. */
const depthMax = limits.jsonLevels.most
const fieldCharsMax = 200

/** The problem with a value that cannot be returned unchanged, or is nested too deep; null if there is none. */
export function unfaithful(value: unknown, depth: number): string | null {
  if (typeof value === 'string') {
    if (value.includes('\0')) return 'must not contain U+0000'
    return value.isWellFormed() ? null : 'must not contain a lone surrogate'
  }
  if (typeof value === 'number') return Number.isFinite(value) ? null : 'must be within the range of a double'
  const isTooDeep = depth > depthMax && typeof value === 'object' && value !== null
  return isTooDeep ? `must not nest deeper than ${depthMax} levels` : null
}

/** The problem with a value or a key, as a sentence without its subject; null if there is none. */
type Check = (value: unknown, depth: number) => string | null

/** The first value or key that is wrong. */
export function findProblem(root: unknown, check: Check): FieldError | null {
  const path: (string | number)[] = []
  const message = checkAll(root, check, path)
  return message === null ? null : { field: fieldOf(path), message }
}

/**
 * Checks every value and key up to the first bad one, and leaves its path in `path`. Allocates nothing per value, since
 * the largest body has ten million. Values nested too deep are not visited.
 */
function checkAll(value: unknown, check: Check, path: (string | number)[]): string | null {
  const problem = check(value, path.length)
  if (problem !== null || typeof value !== 'object' || value === null || path.length > depthMax)
    return problem
  const keys = Array.isArray(value) ? null : Object.keys(value)
  const children: unknown[] = Array.isArray(value) ? value : Object.values(value)
  for (let index = 0; index < children.length; index++) {
    const key = keys?.[index] ?? index
    path.push(key)
    const fault = check(key, 0) ?? checkAll(children[index], check, path)
    if (fault !== null) return fault
    path.pop()
  }
  return null
}

function fieldOf(path: (string | number)[]): string {
  const field = path.join('.').slice(0, fieldCharsMax).toWellFormed().replaceAll('\0', '\uFFFD')
  return field || 'body'
}
