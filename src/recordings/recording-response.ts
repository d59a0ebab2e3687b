import { AppError } from '../errors.ts'
import { hasAnswer, notModified } from '../http/conditional.ts'
import type { RequestContexts } from '../http/request-context.ts'
import { streamOfParts } from '../http/response-buffers.ts'
import { extensionOf } from './media-type.ts'
import { type ByteRange, rangeOf } from './ranges.ts'
import type { OpenRecording } from './recordings.ts'

/** Bodies up to this size are sent whole, with their length, on every runtime. */
const wholeBytesMax = 1_048_576
/** Opening a link shows the browser's own player, and other pages may play it. */
const linkHeaders = {
  'Content-Security-Policy': "default-src 'none'; media-src 'self'; style-src 'unsafe-inline'",
  'Cross-Origin-Resource-Policy': 'cross-origin',
}

interface AnswerOptions {
  contexts: RequestContexts
  /** Checks again whether the listener may go on, since a slow one may outlast a key or a session. */
  check?: () => Promise<unknown>
  isLink?: boolean
}

/**
 * A recording, or the range of it that is asked for. Closes it in the end.
 * @throws range_not_satisfiable
 */
export async function answerRecording(
  request: Request,
  recording: OpenRecording,
  { contexts, check = async () => undefined, isLink = false }: AnswerOptions,
): Promise<Response> {
  try {
    const { bytes } = recording
    const tag = `"${recording.tag}"`
    const headers = headersOf(recording, tag, isLink)
    const range = rangeOf(request, bytes, tag)
    const isKnown = hasAnswer(request, tag)
    if (isKnown || request.method === 'HEAD') await recording.close()
    if (isKnown) return notModified(request, tag)
    if (range === 'unsatisfiable') throw notSatisfiable(bytes)
    if (range) headers.set('Content-Range', `bytes ${range.start}-${range.end - 1}/${bytes}`)
    const bodyRange = range ?? { start: 0, end: bytes }
    const length = String(bodyRange.end - bodyRange.start)
    headers.set('Content-Length', length)
    const context = contexts.of(request)
    // Elysia would say 0, the length of the body that an answer to HEAD has.
    if (request.method === 'HEAD') context.headers = { ...context.headers, 'Content-Length': length }
    const body = request.method === 'HEAD' ? null : await bodyOf(recording, bodyRange, check)
    return new Response(body, { status: range ? 206 : 200, headers })
  } catch (error) {
    await recording.close()
    throw error
  }
}

async function bodyOf(
  recording: OpenRecording,
  { start, end }: ByteRange,
  check: () => Promise<unknown>,
): Promise<Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>> {
  const parts = recording.read(start, end)
  if (end - start <= wholeBytesMax) {
    const all: Buffer[] = []
    for await (const part of parts) all.push(part)
    return Buffer.concat(all)
  }
  const close = async () => {
    await parts.return(undefined)
    // A generator that was never asked has not begun, so it does not end either.
    await recording.close()
  }
  const next = async () => {
    try {
      await check()
      return (await parts.next()).value ?? null
    } catch (error) {
      await close()
      throw error
    }
  }
  return streamOfParts(next, close)
}

function headersOf({ id, contentType }: OpenRecording, tag: string, isLink: boolean): Headers {
  const name = `${id.replaceAll(':', '_')}.${extensionOf(contentType)}`
  return new Headers({
    ...(isLink && linkHeaders),
    'Content-Type': contentType,
    'Accept-Ranges': 'bytes',
    ETag: tag,
    'Cache-Control': 'private, no-cache',
    'Content-Disposition': `inline; filename="${name}"`,
  })
}

function notSatisfiable(bytes: number): AppError {
  return new AppError('range_not_satisfiable', 'Range not satisfiable', {
    detail: `The recording has ${bytes} bytes.`,
    headers: { 'Content-Range': `bytes */${bytes}` },
  })
}
