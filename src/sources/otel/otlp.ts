import type { Work } from '../../threads/time-slices.ts'
import { FieldFault, Fields, instantMax, isObject } from '../fields.ts'
import { type AttributeValue, isUserAttribute, type Span } from './kept-span.ts'
import { type PartialSuccess, RequestDecoder } from './protobuf.ts'

/** Prefix of the names of attributes that users set on spans of their own. */
const ownPrefix = 'callbook.'
const versionName = 'service.version'

/** Values that `Fields` treats as a missing object. */
function isNothing(value: unknown): boolean {
  return value === null || value === ''
}

/**
 * The spans of these scopes, and those of others with attributes of users.
 * @param payload in protobuf as bytes, in JSON parsed @throws FieldFault for a malformed request
 */
export function* spansOf(
  payload: unknown,
  scopes: ReadonlySet<string>,
): Work<{ spans: Span[] } & PartialSuccess> {
  const decoder = new RequestDecoder()
  const body = payload instanceof Uint8Array ? yield* decoder.traces(payload) : payload
  const spans: Span[] = []
  const answer = { spans, rejectedSpans: 0, errorMessage: '' }
  if (isNothing(body)) throw new FieldFault('body', 'must be an object')
  const request = Fields.of(body)
  const resources = request.own('resourceSpans')
  if (Array.isArray(resources) && resources.some(isNothing))
    throw new FieldFault('resourceSpans', 'must be an array of objects')
  for (const ofResource of request.list('resourceSpans')) {
    const resource = attributesOf(ofResource.object('resource').own('attributes'))
    const service = resource.get('service.name')
    const ofFramework = {
      service: typeof service === 'string' ? service : undefined,
      userAttributes: new Map(
        [...resource].filter(([name]) => isUserAttribute(name) || name === versionName),
      ),
    }
    for (const ofScope of ofResource.list('scopeSpans')) {
      yield
      const scope = ofScope.object('scope').text('name') ?? ''
      const isFramework = scopes.has(scope)
      for (const raw of spansIn(ofScope)) {
        yield
        if (!isFramework && !mayHaveUserAttributes(raw)) continue
        const fields = raw instanceof Uint8Array ? Fields.of(decoder.span(raw)) : raw
        const span = toSpan(fields, scope, isFramework ? ofFramework : ofOtherScope)
        if (span) spans.push(span)
        else if (isFramework) answer.rejectedSpans++
      }
    }
  }
  if (answer.rejectedSpans > 0)
    answer.errorMessage = 'A span needs traceId, spanId, name, startTimeUnixNano and endTimeUnixNano.'
  return answer
}

const ofOtherScope = { service: undefined, userAttributes: new Map<string, AttributeValue>() }

/** The spans, in protobuf each still as bytes. */
function spansIn(ofScope: Fields): readonly (Fields | Uint8Array)[] {
  const spans = ofScope.own('spans')
  return Array.isArray(spans) && spans[0] instanceof Uint8Array ? spans : ofScope.list('spans')
}

/** Checks a span of another scope without decoding it, since there may be very many. */
function mayHaveUserAttributes(span: Fields | Uint8Array): boolean {
  if (span instanceof Uint8Array)
    return Buffer.from(span.buffer, span.byteOffset, span.byteLength).includes(ownPrefix)
  return [...attributesOf(span.own('attributes')).keys()].some(isUserAttribute)
}

/** Null if a required field is missing. */
function toSpan(fields: Fields, scope: string, of: Pick<Span, 'service' | 'userAttributes'>): Span | null {
  const [traceId, spanId] = [hexOf(fields, 'traceId', 32), hexOf(fields, 'spanId', 16)]
  const [startMs, endMs] = [msOf(fields, 'startTimeUnixNano'), msOf(fields, 'endTimeUnixNano')]
  const name = fields.text('name')
  if (!traceId || !spanId || !name || startMs === null || endMs === null) return null
  return {
    traceId,
    spanId,
    parentSpanId: hexOf(fields, 'parentSpanId', 16) ?? '',
    scope,
    ...of,
    name,
    startMs,
    endMs,
    attributes: attributesOf(fields.own('attributes')),
    events: fields.list('events').map((event) => ({
      name: event.text('name') ?? '',
      attributes: attributesOf(event.own('attributes')),
    })),
  }
}

/** An id in hex; null if it is missing, malformed or all zeros. */
function hexOf(fields: Fields, name: string, digits: number): string | null {
  const hex = fields.text(name)?.toLowerCase() ?? ''
  return hex.length === digits && /^[0-9a-f]*[1-9a-f][0-9a-f]*$/.test(hex) ? hex : null
}

/** Nanoseconds to milliseconds. A double is exact to a quarter of a microsecond here. */
function msOf(fields: Fields, name: string): number | null {
  const ms = (fields.number(name) ?? 0) / 1_000_000
  return ms > 0 && ms <= instantMax ? ms : null
}

/** The attributes by key, without lists and maps, which no framework's spans use. */
function attributesOf(list: unknown): Map<string, AttributeValue> {
  const attributes = new Map<string, AttributeValue>()
  if (!Array.isArray(list)) return attributes
  for (const entry of list) {
    if (!isObject(entry) || typeof entry.key !== 'string' || !isObject(entry.value)) continue
    const { stringValue, boolValue, intValue, doubleValue } = entry.value
    const value = stringValue ?? boolValue ?? (intValue === undefined ? doubleValue : Number(intValue))
    if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
      attributes.set(entry.key, value)
  }
  return attributes
}
