import { Elysia } from 'elysia'
import type { Http } from '../../http/http.ts'
import { checkMembers, readBody, readParts } from '../../http/json-body.ts'
import type { Protocol } from '../../http/surface.ts'
import { limits } from '../../limits.ts'
import { type FormPart, formParts } from './form-parts.ts'
import type { LiveKitReceiver } from './livekit-receiver.ts'
import { spansOfJob, spansOfLogs } from './livekit-report.ts'
import { spansOf } from './otlp.ts'
import { orInvalid, readOtlp } from './otlp-routes.ts'
import { encodeResponse, encodeStatus } from './protobuf.ts'
import { type CallSessions, scopes } from './sessions.ts'

const protobuf = { 'Content-Type': 'application/x-protobuf' }
const recordings = '/observability/recordings/v0'
const form = {
  type: 'multipart/form-data',
  advice: 'Send the recording as multipart/form-data.',
}
const unread = { parse: 'none', detail: { hide: true } } as const
/** OTLP's exporters retry for some 10 seconds only. An upload is tried four times in all. */
const [retrySeconds, uploadRetrySeconds] = [1, 15]

/** Errors as LiveKit's own receiver has them: a `Status` in protobuf, with a `RetryInfo` where a retry may help. */
export const livekitProtocol: Protocol = {
  prefix: '/observability',
  keyKind: null,
  errorBody: ({ detail }) => ({ message: detail }),
  errorAnswer(error, request) {
    const status = error.status >= 500 ? 503 : error.status
    const headers: Record<string, string> = { ...error.headers, ...protobuf }
    if (status !== 503 && status !== 429) return new Response(encodeStatus(error.detail), { status, headers })
    const seconds = request.url.includes(recordings) ? uploadRetrySeconds : retrySeconds
    headers['Retry-After'] = String(seconds)
    return new Response(encodeStatus(error.detail, seconds), { status, headers })
  },
}

interface Received {
  livekitReceiver: LiveKitReceiver
  callSessions: Pick<CallSessions, 'read'>
  config: { readonly callBytesMax: number }
}

/**
 * /observability: what agents of LiveKit send to LIVEKIT_OBSERVABILITY_URL. Not in the OpenAPI document, since it is
 * LiveKit's own protocol, in protobuf.
 */
export function livekitRoutes(
  { admission, contexts, limitRate }: Http,
  { livekitReceiver: receiver, callSessions, config }: Received,
) {
  const open = async (request: Request) => {
    const source = await receiver.sourceOf(request.headers, (apiKey) =>
      admission.enterUnverified(request, 'sources', `livekit ${apiKey}`),
    )
    admission.recognize(request)
    contexts.of(request).party = source.projectId
    limitRate(request, source.id)
    return { source, bodyLimits: { bytesMax: contexts.bodyBytesMaxOf(request), admission } }
  }
  return new Elysia({ prefix: '/observability' })
    .post(
      '/traces/otlp/v0',
      async ({ request }) => {
        const { source, bodyLimits } = await open(request)
        const bytes = await readOtlp(request, bodyLimits)
        const { spans } = await orInvalid(() => callSessions.read(source.id, bytes, spansOf(bytes, scopes)))
        return answer(encodeResponse(await receiver.take(source, spans.flatMap(spansOfJob))))
      },
      unread,
    )
    .post(
      '/logs/otlp/v0',
      async ({ request }) => {
        const { source, bodyLimits } = await open(request)
        const bytes = await readOtlp(request, bodyLimits)
        const spans = await orInvalid(() => callSessions.read(source.id, bytes, spansOfLogs(bytes)))
        return answer(encodeResponse(await receiver.take(source, spans)))
      },
      unread,
    )
    .post(
      '/metrics/otlp/v0',
      async ({ request }) => {
        await readBody(request, (await open(request)).bodyLimits)
        return answer()
      },
      unread,
    )
    .post(
      '/recordings/v0',
      async ({ request }) => {
        const { source, bodyLimits } = await open(request)
        const parts = formParts(readParts(request, form, bodyLimits), {
          type: request.headers.get('content-type') ?? '',
          streamed: 'audio',
          wholeBytesMax: { header: limits.uploadHeader.most, chat_history: config.callBytesMax },
          hold: (bytes) => admission.hold(request, bytes),
        })
        await orInvalid(() => receiver.takeUpload(source, checkHistory(parts)))
        return answer()
      },
      unread,
    )
}

/** @throws payload_too_large if the history has too many members */
async function* checkHistory(parts: AsyncIterable<FormPart>) {
  for await (const part of parts) {
    if ('value' in part && part.name === 'chat_history') checkMembers(part.value)
    yield part
  }
}

function answer(bytes = new Uint8Array<ArrayBuffer>(new ArrayBuffer(0))): Response {
  return new Response(bytes, { headers: protobuf })
}
