import { Elysia } from 'elysia'
import { visit } from 'jsonc-parser'
import { AppError, invalidRequest } from '../errors.ts'
import { limits } from '../limits.ts'
import { findProblem, hasTooManyMembers, parseJsonText, unfaithful } from '../validation.ts'
import { type Admission, freeBodyBytes } from './admission.ts'
import type { RequestContexts } from './request-context.ts'

/** How long a body may take to arrive; each `bytesPerSecondMin` that have arrived add a second. */
const arrivalMs = limits.arrival.most
const bytesPerSecondMin = 32_768
/** How long a form may be read in all, with the work in between: its parts are held meanwhile. */
const formMs = limits.formArrival.most
const formBytesPerSecondMin = 65_536
const watchMs = 100
/** Longer malformed bodies are not parsed again to find the position, which would delay others. */
const locatedCharsMax = 1_048_576
const utf8 = new TextDecoder('utf-8', { fatal: true })
/** RFC 2046 §5.1.1, without spaces. */
const boundaryPattern = /;\s*boundary=("?)([\w'()+,./:=?-]{1,70})\1\s*(?:;|$)/i

export interface BodyLimits {
  /** A larger body is 413, and the rest of it is not read. */
  bytesMax: number
  admission: Admission
}

/** A form with files, as it arrived. */
export interface Upload {
  /** The Content-Type, which names the boundary of the form's parts. */
  type: string
  bytes: Uint8Array
}

/** The one media type of a body. */
export interface BodyForm {
  type: string
  /** The advice for a client that sends another type. */
  advice: string
}

const json: BodyForm = {
  type: 'application/json',
  advice: 'Send the body as JSON in UTF-8, with Content-Type: application/json.',
}

const form: BodyForm = {
  type: 'multipart/form-data',
  advice: 'Send the file as a part named `file` of a form, as multipart/form-data.',
}

interface JsonBodyOptions {
  admission: Admission
  contexts: RequestContexts
  /** Patterns of the routes whose DELETE takes a body; on any other route a DELETE's body is ignored. */
  deletesWithBody: readonly string[]
  /** Patterns of the routes that take an `Upload`. */
  uploads: readonly string[]
  /** Checks the sender again, whose rights may have ended while the body arrived. */
  authenticate: (request: Request) => Promise<unknown>
}

/** Reads JSON bodies, for every route that takes one. */
export function jsonBody({ admission, contexts, deletesWithBody, uploads, authenticate }: JsonBodyOptions) {
  return new Elysia({ name: 'json-body' }).onParse({ as: 'global' }, async ({ request, route }) => {
    // Elysia reads a body for every method but GET and HEAD.
    if (request.method === 'DELETE' && !deletesWithBody.includes(route)) return null
    const limits = { bytesMax: contexts.bodyBytesMaxOf(request), admission }
    const isUpload = uploads.includes(route)
    const body = await (isUpload ? readUpload(request, limits) : readJson(request, limits))
    await authenticate(request)
    if (!isUpload) contexts.of(request).body = body
    return body
  })
}

/** @throws unsupported_media_type, payload_too_large, unavailable, or invalid_request naming the field. */
export async function readJson(request: Request, limits: BodyLimits): Promise<unknown> {
  checkForm(request.headers, json)
  return parseBody(await readBody(request, limits))
}

/** A JSON body, or a line of one. @throws payload_too_large for too many members, or as `parseJson` */
export function parseBody(bytes: Uint8Array): unknown {
  checkMembers(bytes)
  return parseJson(bytes)
}

/** A body of any media type and encoding, as sent. @throws payload_too_large, unavailable or invalid_request */
export function readBody(request: Request, limits: BodyLimits): Promise<Uint8Array> {
  return limits.admission.whileArriving(request, () => readBytes(request, limits))
}

/** @throws as `readJson` */
async function readUpload(request: Request, limits: BodyLimits): Promise<Upload> {
  checkForm(request.headers, form)
  const bytes = await readBody(request, limits)
  // The parser is given what was counted: parsers differ in what they make of other forms of the parameter.
  const boundary = boundaryPattern.exec(request.headers.get('content-type') ?? '')?.[2] ?? ''
  if (boundary !== '') checkParts(boundary, bytes)
  return { type: `${form.type}; boundary="${boundary}"`, bytes }
}

/**
 * Parses JSON that can be returned unchanged: no U+0000, no lone surrogates, no invalid UTF-8, no number beyond the
 * range of a double, no more than 100 levels. @throws invalid_request naming the field
 */
export function parseJson(bytes: Uint8Array): unknown {
  const text = decode(bytes)
  const value = text === null ? undefined : parseJsonText(text)
  if (text === null || value === undefined) throw unreadable(bytes, text)
  const problem = findProblem(value, unfaithful)
  if (problem) throw invalidRequest([problem])
  return value
}

/**
 * A body of any media type, byte for byte as it arrived.
 * @throws unsupported_media_type for a compressed one, payload_too_large, unavailable or invalid_request
 */
export async function readUncompressed(request: Request, limits: BodyLimits): Promise<Uint8Array> {
  checkEncoding(request.headers)
  return await readBody(request, limits)
}

/**
 * The parts of a body of lines, as they arrive. The request frees its slot while it waits for them.
 * @throws unsupported_media_type, payload_too_large or unavailable at once or later, or invalid_request
 */
export function readParts(request: Request, form: BodyForm, limits: BodyLimits): AsyncGenerator<Uint8Array> {
  checkForm(request.headers, form)
  checkLength(request.headers, limits.bytesMax)
  return whileWaiting(request, limits)
}

/** The parts of a body of any media type, as they arrive. The request keeps its slot. @throws as `readParts` */
export function readStream(request: Request, limits: BodyLimits): AsyncGenerator<Uint8Array> {
  checkEncoding(request.headers)
  checkLength(request.headers, limits.bytesMax)
  return arriving(request, arrivalMs)
}

async function* whileWaiting(request: Request, { bytesMax, admission }: BodyLimits) {
  const parts = arriving(request, arrivalMs)
  let size = 0
  try {
    for (;;) {
      const { done, value } = await admission.whileArriving(request, () => parts.next())
      if (done) return
      size += value.byteLength
      if (size > bytesMax) throw payloadTooLarge(bytesMax)
      yield value
    }
  } finally {
    await parts.return(undefined)
  }
}

/** @throws payload_too_large if JSON has too many members */
export function checkMembers(bytes: Uint8Array): void {
  if (hasTooManyMembers(bytes)) throw tooLarge(`${limits.jsonMembers.most} members in objects and arrays`)
}

/** Counts the parts of a form, without reading them. @throws payload_too_large */
function checkParts(boundary: string, bytes: Uint8Array): void {
  const [form, delimiter] = [Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), `--${boundary}`]
  // The last delimiter ends the form.
  let partsLeft = limits.parts.most + 1
  for (let at = form.indexOf(delimiter); at >= 0; at = form.indexOf(delimiter, at + delimiter.length))
    if (--partsLeft < 0) throw tooLarge(`${limits.parts.most} parts`)
}

/** @throws unsupported_media_type unless the body is of this type, plain and in UTF-8 */
function checkForm(headers: Headers, { type, advice }: BodyForm): void {
  const contentType = headers.get('content-type') ?? ''
  const charset = /;\s*charset\s*=\s*"?([^\s;"]*)/i.exec(contentType)?.[1]
  if (contentType.split(';', 1)[0]?.trim().toLowerCase() !== type || !/^utf-?8$/i.test(charset ?? 'utf-8'))
    throw unsupportedMediaType(advice)
  checkEncoding(headers)
}

function checkEncoding(headers: Headers): void {
  // RFC 9110, 15.5.16: Accept-Encoding says that the encoding is at fault, and which one to use.
  if (!/^\s*(identity)?\s*$/i.test(headers.get('content-encoding') ?? ''))
    throw unsupportedMediaType('Send the body uncompressed, without Content-Encoding.', {
      'Accept-Encoding': 'identity',
    })
}

async function readBytes(request: Request, { bytesMax, admission }: BodyLimits): Promise<Uint8Array> {
  const length = checkLength(request.headers, bytesMax)
  const withinMs = admission.isUnverified(request) ? limits.unverifiedArrival.most : arrivalMs
  // Reading it part by part takes an eighth of the main thread's time for a PUT.
  if (length <= freeBodyBytes)
    return new Uint8Array(await arrivesWithin(withinMs, () => request.arrayBuffer()))
  const parts: Uint8Array[] = []
  let size = 0
  for await (const part of arriving(request, withinMs)) {
    size += part.byteLength
    if (size > bytesMax) throw payloadTooLarge(bytesMax)
    admission.hold(request, size)
    parts.push(part)
  }
  return parts.length === 1 && parts[0] ? parts[0] : Buffer.concat(parts)
}

/** The length that the request names; infinite when it names none. @throws payload_too_large */
function checkLength(headers: Headers, bytesMax: number): number {
  const length = headers.get('content-length')
  if (Number(length ?? 0) > bytesMax) throw payloadTooLarge(bytesMax)
  return length === null ? Number.POSITIVE_INFINITY : Number(length)
}

/**
 * Counts only the time of waiting, not that of the work in between. One timer for all parts: one for each would take as
 * long as reading them.
 */
async function* arriving(request: Request, withinMs: number): AsyncGenerator<Uint8Array> {
  const reader = request.body?.getReader()
  if (!reader) return
  const wait = { size: 0, beforeMs: 0, startedAt: 0, lateAfterMs: 0 }
  const isForm = /^\s*multipart\//i.test(request.headers.get('content-type') ?? '')
  const begunAt = performance.now()
  const timer = setInterval(() => {
    if (wait.startedAt === 0) return
    const now = performance.now()
    const waitedMs = wait.beforeMs + now - wait.startedAt
    if (waitedMs > withinMs + (wait.size / bytesPerSecondMin) * 1_000) wait.lateAfterMs = withinMs
    else if (isForm && now - begunAt > formMs + (wait.size / formBytesPerSecondMin) * 1_000)
      wait.lateAfterMs = formMs
    if (wait.lateAfterMs > 0) reader.cancel().catch(() => undefined)
  }, watchMs)
  try {
    for (;;) {
      wait.startedAt = performance.now()
      const part = await reader.read().catch(() => {
        throw incomplete()
      })
      wait.beforeMs += performance.now() - wait.startedAt
      wait.startedAt = 0
      if (wait.lateAfterMs > 0) throw late(wait.lateAfterMs)
      if (part.done) return
      wait.size += part.value.byteLength
      yield part.value
    }
  } finally {
    clearInterval(timer)
    reader.cancel().catch(() => undefined)
  }
}

/** @throws invalid_request when it takes longer, or the client has gone away */
async function arrivesWithin<Value>(withinMs: number, receive: () => Promise<Value>): Promise<Value> {
  const body = await withinTime(withinMs, receive()).catch(() => {
    throw incomplete()
  })
  if (body !== null) return body
  throw late(withinMs)
}

/** Reading fails only if the client has gone away, which is not worth logging. */
function incomplete(): AppError {
  return invalidRequest([{ field: 'body', message: 'must arrive complete' }])
}

function late(withinMs: number): AppError {
  return invalidRequest([{ field: 'body', message: `must arrive within ${withinMs / 1_000} seconds` }])
}

/** Null when the time is up. */
export async function withinTime<Value>(ms: number, work: Promise<Value>): Promise<Value | null> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), ms)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}

function decode(bytes: Uint8Array): string | null {
  try {
    return utf8.decode(bytes)
  } catch {
    // Not UTF-8. The caller finds the field.
    return null
  }
}

/** JSON's syntax is ASCII, so a body that is not UTF-8 still shows its fields when each byte is a character. */
function unreadable(bytes: Uint8Array, text: string | null): AppError {
  if (text === '') return invalidRequest([{ field: 'body', message: 'is required, as JSON' }])
  if (text === null) {
    const latin = parseJsonText(new TextDecoder('latin1').decode(bytes))
    return invalidRequest([findProblem(latin, notUtf8) ?? { field: 'body', message: 'must be valid UTF-8' }])
  }
  const message = 'must be valid JSON'
  const detail = `body: ${message}${whereBroken(text)}`
  return new AppError('invalid_request', 'Invalid request', { detail, errors: [{ field: 'body', message }] })
}

/** The position of a JSON syntax error, since runtimes' messages differ; '' if the text is too long to parse again. */
function whereBroken(text: string): string {
  if (text.length > locatedCharsMax) return ''
  let at = ''
  const onError = (_error: number, _offset: number, _length: number, line: number, column: number) => {
    // The only line of a body may be one of many in NDJSON, whose answer has its number.
    const inLine = text.includes('\n') ? `line ${line + 1}, ` : ''
    at ||= `: the error is at ${inLine}column ${column + 1}`
  }
  try {
    visit(text, { onError }, { disallowComments: true, allowTrailingComma: false })
  } catch (error) {
    // The parser is recursive, so many levels can overflow the stack.
    if (!(error instanceof RangeError)) throw error
  }
  return at
}

function notUtf8(value: unknown): string | null {
  const isBroken = typeof value === 'string' && decode(Buffer.from(value, 'latin1')) === null
  return isBroken ? 'must be valid UTF-8' : null
}

export function unsupportedMediaType(detail: string, headers: Record<string, string> = {}): AppError {
  return new AppError('unsupported_media_type', 'Unsupported media type', { detail, headers })
}

export function payloadTooLarge(bytesMax: number): AppError {
  return tooLarge(`${bytesMax} bytes`)
}

function tooLarge(most: string): AppError {
  return new AppError('payload_too_large', 'Payload too large', {
    detail: `The body has more than ${most}, the most that is accepted.`,
  })
}
