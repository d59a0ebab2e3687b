import { Elysia } from 'elysia'
import { AppError, type FieldError, invalidRequest } from '../errors.ts'

/** Levels of nesting a field's value may have. */
const depthMax = 100
const fieldCharsMax = 200

/** Reads JSON bodies, for every route that takes one. @param bytesMax a larger body is 413 and not read on */
export function jsonBody(bytesMax: number) {
  return new Elysia({ name: 'json-body' }).onParse({ as: 'global' }, async ({ request }) => {
    // Elysia reads a body for every method but GET and HEAD; on a DELETE whatever is sent is ignored.
    if (request.method === 'DELETE') return null
    if (!isJson(request.headers.get('content-type'))) throw unsupportedMediaType()
    return parseJson(await readBytes(request, bytesMax))
  })
}

/**
 * Parses JSON that holds nothing we could not give back as it was: no U+0000, no lone surrogates, no invalid
 * UTF-8, no number beyond the range of a double, no nesting beyond 100 levels.
 * @throws invalid_request naming the field.
 */
export function parseJson(bytes: Uint8Array): unknown {
  const text = decode(bytes)
  const value = text === null ? undefined : parse(text)
  if (text === null || value === undefined) throw invalidRequest([unreadable(bytes)])
  const problem = findUnfaithful(value)
  if (problem) throw invalidRequest([problem])
  return value
}

function isJson(contentType: string | null): boolean {
  return contentType !== null && /^application\/json\s*(;|$)/i.test(contentType.trim())
}

async function readBytes(request: Request, bytesMax: number): Promise<Uint8Array> {
  if (Number(request.headers.get('content-length') ?? 0) > bytesMax) throw payloadTooLarge(bytesMax)
  const parts: Uint8Array[] = []
  let size = 0
  for await (const part of request.body ?? []) {
    size += part.byteLength
    if (size > bytesMax) throw payloadTooLarge(bytesMax)
    parts.push(part)
  }
  return parts.length === 1 && parts[0] ? parts[0] : Buffer.concat(parts)
}

function decode(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    // Not UTF-8; the caller looks for the field at fault.
    return null
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // Not JSON, which no JSON value stands for.
    return undefined
  }
}

/** JSON's syntax is ASCII, so a body that is not UTF-8 still shows its fields when each byte is a character. */
function unreadable(bytes: Uint8Array): FieldError {
  const latin = parse(new TextDecoder('latin1').decode(bytes))
  const field =
    latin === undefined ? null : findText(latin, (text) => decode(Buffer.from(text, 'latin1')) === null)
  if (field !== null && field !== undefined) return { field, message: 'must be valid UTF-8' }
  const isText = decode(bytes) !== null
  return { field: 'body', message: isText ? 'must be valid JSON' : 'must be valid UTF-8' }
}

interface Visit {
  value: unknown
  key: string
  parent: Visit | null
  depth: number
}

/** Every value and every key of a JSON value. Walks without recursion: a body may nest deeper than a stack. */
function* walk(root: unknown): Generator<Visit> {
  const open: Visit[] = [{ value: root, key: '', parent: null, depth: 0 }]
  for (let visit = open.pop(); visit; visit = open.pop()) {
    yield visit
    const { value, depth } = visit
    if (typeof value !== 'object' || value === null || depth > depthMax) continue
    for (const [key, child] of Object.entries(value)) {
      if (!Array.isArray(value)) yield { value: key, key, parent: visit, depth: 0 }
      open.push({ value: child, key, parent: visit, depth: depth + 1 })
    }
  }
}

function findUnfaithful(root: unknown): FieldError | null {
  for (const visit of walk(root)) {
    const message = unfaithful(visit)
    if (message) return { field: pathOf(visit), message }
  }
  return null
}

function unfaithful({ value, depth }: Visit): string | null {
  if (typeof value === 'string') {
    if (value.includes('\0')) return 'must not hold U+0000'
    return value.isWellFormed() ? null : 'must not hold a lone surrogate'
  }
  if (typeof value === 'number') return Number.isFinite(value) ? null : 'must be within the range of a double'
  const isTooDeep = depth > depthMax && typeof value === 'object' && value !== null
  return isTooDeep ? `must not nest deeper than ${depthMax} levels` : null
}

function findText(root: unknown, isWanted: (text: string) => boolean): string | null {
  for (const visit of walk(root)) {
    if (typeof visit.value === 'string' && isWanted(visit.value)) return pathOf(visit)
  }
  return null
}

function pathOf(visit: Visit): string {
  const keys: string[] = []
  for (let at: Visit | null = visit; at?.parent; at = at.parent) keys.unshift(at.key)
  const path = keys.join('.').slice(0, fieldCharsMax).toWellFormed().replaceAll('\0', '\uFFFD')
  return path || 'body'
}

function unsupportedMediaType(): AppError {
  return new AppError('unsupported_media_type', 'Unsupported media type', {
    detail: 'Send the body as JSON, with Content-Type: application/json.',
  })
}

function payloadTooLarge(bytesMax: number): AppError {
  return new AppError('payload_too_large', 'Payload too large', {
    detail: `The body is larger than the ${bytesMax} bytes that are accepted.`,
  })
}
