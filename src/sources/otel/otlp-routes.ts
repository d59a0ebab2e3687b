import { promisify } from 'node:util'
import { gunzip, inflate, constants as zlib } from 'node:zlib'
import { Elysia } from 'elysia'
import { invalidRequest } from '../../errors.ts'
import { callerContext } from '../../http/caller.ts'
import type { Http } from '../../http/http.ts'
import {
  type BodyLimits,
  parseBody,
  payloadTooLarge,
  readBody,
  unsupportedMediaType,
} from '../../http/json-body.ts'
import type { Protocol } from '../../http/surface.ts'
import { limits } from '../../limits.ts'
import { FieldFault } from '../fields.ts'
import { spansOf } from './otlp.ts'
import { exportTraces } from './otlp-docs.ts'
import { encodeResponse, encodeStatus, type PartialSuccess } from './protobuf.ts'
import { type CallSessions, scopes } from './sessions.ts'

const protobuf = 'application/x-protobuf'
const json = 'application/json'
/** Short, because clients retry for some 10 seconds only. */
const retryAfterSeconds = 1
/** Deflate's own limit: https://zlib.net/zlib_tech.html */
const inflationMax = 1_032
const trailerBytes = 4
const expanders = { gzip: promisify(gunzip), deflate: promisify(inflate) }

/** Errors by OTLP: a `Status` in the request's media type, and 503 for errors that a retry may solve. */
export const otlpProtocol: Protocol = {
  prefix: '/ingest/otlp',
  keyKind: 'ingest',
  errorBody: ({ detail }) => ({ message: detail }),
  errorAnswer(error, request) {
    // Clients drop spans that get 500 or 507.
    const status = error.status >= 500 ? 503 : error.status
    const seconds = error.status >= 500 ? retryAfterSeconds : error.retryAfterSeconds
    const headers: Record<string, string> = { ...error.headers }
    if (seconds !== undefined) headers['Retry-After'] = String(Math.ceil(seconds))
    return answer(request, encodeStatus(error.detail), this.errorBody(error), { status, headers })
  },
}

/** POST /ingest/otlp/v1/traces: the spans of voice sessions. The handler reads and parses the body. */
export function otlpRoutes({ admission, contexts }: Http, callSessions: Pick<CallSessions, 'read' | 'take'>) {
  return new Elysia().use(callerContext()).post(
    '/ingest/otlp/v1/traces',
    async ({ caller, request }) => {
      const limits = { bytesMax: contexts.bodyBytesMaxOf(request), admission }
      const bytes = await readOtlp(request, limits, [protobuf, json])
      const { spans, ...partialRefusal } = await orInvalid(() => {
        const message = typeOf(request) === json ? parseBody(bytes) : bytes
        return callSessions.read(caller.keyId, bytes, spansOf(message, scopes))
      })
      const outcome = await callSessions.take(caller.projectId, spans)
      const partial = {
        rejectedSpans: partialRefusal.rejectedSpans + outcome.rejectedSpans,
        errorMessage: [partialRefusal.errorMessage, outcome.errorMessage].filter(Boolean).join(' '),
      }
      return answer(request, encodeResponse(partial), responseOf(partial))
    },
    { parse: 'none', detail: exportTraces },
  )
}

/** OTLP/JSON writes 64-bit numbers as text. */
function responseOf({ rejectedSpans, errorMessage }: PartialSuccess): object {
  if (rejectedSpans === 0) return {}
  return { partialSuccess: { rejectedSpans: String(rejectedSpans), errorMessage } }
}

function answer(
  request: Request,
  bytes: Uint8Array<ArrayBuffer>,
  value: object,
  init: { status?: number; headers?: Record<string, string> } = {},
): Response {
  const isProtobuf = typeOf(request) === protobuf
  const headers = { ...init.headers, 'Content-Type': isProtobuf ? protobuf : json }
  return new Response(isProtobuf ? bytes : JSON.stringify(value), { ...init, headers })
}

function typeOf({ headers }: Request): string {
  return headers.get('content-type')?.split(';', 1)[0]?.trim().toLowerCase() ?? ''
}

/**
 * The body of an OTLP/HTTP request, inflated.
 * @param types the media types that are understood @throws unsupported_media_type, payload_too_large, unavailable
 */
export async function readOtlp(
  request: Request,
  bodyLimits: BodyLimits,
  types: readonly string[] = [protobuf],
): Promise<Uint8Array> {
  if (!types.includes(typeOf(request)))
    throw unsupportedMediaType(`Send the body with Content-Type: ${types.join(' or ')}.`)
  const encoding = request.headers.get('content-encoding')?.trim().toLowerCase() || 'identity'
  if (encoding !== 'identity' && !isExpandable(encoding))
    throw unsupportedMediaType('Send the body as it is, or with Content-Encoding: gzip or deflate.', {
      'Accept-Encoding': 'gzip, deflate, identity',
    })
  const raw = await readBody(request, bodyLimits)
  if (!isExpandable(encoding)) return raw
  const bytes = await expand(request, raw, encoding, bodyLimits)
  bodyLimits.admission.hold(request, bytes.byteLength)
  return bytes
}

/** @throws invalid_request naming the field that cannot be read */
export async function orInvalid<Value>(read: () => Value | Promise<Value>): Promise<Value> {
  try {
    return await read()
  } catch (error) {
    if (error instanceof FieldFault) throw invalidRequest([{ field: error.field, message: error.message }])
    throw error
  }
}

function isExpandable(encoding: string): encoding is keyof typeof expanders {
  return Object.hasOwn(expanders, encoding)
}

/** Room for all that it inflates to is taken before. @throws payload_too_large, unavailable, invalid_request */
async function expand(
  request: Request,
  raw: Uint8Array,
  encoding: keyof typeof expanders,
  { bytesMax, admission }: BodyLimits,
): Promise<Uint8Array> {
  const most = encoding === 'gzip' ? inflatedBytes(raw) : Math.min(bytesMax, raw.length * inflationMax)
  if (most > bytesMax) throw payloadTooLarge(bytesMax)
  await admission.holdWithin(limits.gzipWait.most, request, raw.length + most)
  try {
    // One buffer, with a byte more than it needs: a full one is followed by another.
    return await expanders[encoding](raw, {
      maxOutputLength: Math.max(most, 1),
      chunkSize: Math.max(most + 1, zlib.Z_MIN_CHUNK),
    })
  } catch (error) {
    const isTooLarge = (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE'
    if (isTooLarge && encoding === 'deflate') throw payloadTooLarge(bytesMax)
    const message = `must be valid ${encoding}, as its Content-Encoding says`
    throw invalidRequest([{ field: 'body', message }])
  }
}

/** What gzip's trailer says. One that lies is not inflated further, so a body has one member. */
function inflatedBytes(gzip: Uint8Array): number {
  const { buffer, byteOffset, length } = gzip
  return length < trailerBytes ? 0 : new DataView(buffer, byteOffset).getUint32(length - trailerBytes, true)
}
