import type { Core } from '../../core/core.ts'
import { AppError, invalidRequest } from '../../errors.ts'
import type { EventCounts } from '../event-counts.ts'
import type { OpenSource, Sources } from '../sources.ts'
import type { FormPart } from './form-parts.ts'
import type { Span } from './kept-span.ts'
import { type RecordingHeader, readHeader, spansOfHistory } from './livekit-report.ts'
import { isSignedWith, readToken } from './livekit-token.ts'
import type { PartialSuccess } from './protobuf.ts'
import type { CallSessions } from './sessions.ts'

/** Keeps the recording of a call. It is complete when its last chunk has been read. */
export type KeepRecording = (
  projectId: number,
  callId: string,
  chunks: AsyncIterable<Uint8Array>,
) => Promise<void>

interface ReceiverParts {
  sources: Pick<Sources, 'openByApiKey'>
  callSessions: Pick<CallSessions, 'take'>
  counts: Pick<EventCounts, 'add'>
  /** Whether the project keeps recordings, and this one was not deleted before. */
  keepsRecording: (projectId: number, callId: string) => Promise<boolean>
  keepRecording: KeepRecording
}

/** Receives what LiveKit's agents observe of their sessions, as LiveKit's own receiver does. One job is one call. */
export class LiveKitReceiver {
  readonly #parts: Core & ReceiverParts

  constructor(core: Core, parts: ReceiverParts) {
    this.#parts = { ...core, ...parts }
  }

  /**
   * The source whose API secret signs the request's token.
   * @param enter called before sources are looked for, with the API key that the token names
   * @throws invalid_signature, and what `enter` throws
   */
  async sourceOf(headers: Headers, enter: (apiKey: string) => void): Promise<OpenSource> {
    const { sources, now } = this.#parts
    const token = readToken(headers, now())
    if (token) enter(token.apiKey)
    const candidates = token ? await sources.openByApiKey(token.apiKey) : []
    const signing = candidates.find(({ secrets }) =>
      secrets.some((secret) => secret !== '' && token && isSignedWith(token, secret)),
    )
    if (signing) return signing
    // LiveKit's SDK gives up a session for good if a 401 says that recording is disabled.
    throw new AppError('invalid_signature', 'Invalid signature', {
      detail: 'The token is not signed by the API key and secret of a source, or it has expired.',
      headers: { 'WWW-Authenticate': 'Bearer' },
    })
  }

  /** Takes the spans of jobs, or the parts of their reports; committed when it returns. @throws unavailable */
  async take(source: OpenSource, spans: readonly Span[]): Promise<PartialSuccess> {
    const { callSessions, counts, now } = this.#parts
    if (spans.length > 0) counts.add(source.id, now())
    return await callSessions.take(source.projectId, spans)
  }

  /**
   * Takes the history of a session, and its recording if the project keeps them.
   * @throws invalid_request, payload_too_large, FieldFault, unavailable, and what keeping a recording throws
   */
  async takeUpload(source: OpenSource, parts: AsyncIterable<FormPart>): Promise<void> {
    let header: RecordingHeader | null = null
    let spans: Span[] = []
    for await (const part of parts) {
      if ('value' in part && part.name === 'header') {
        header = readHeader(part.value)
        spans = header.spans
      } else if (!header) throw invalidRequest([{ field: 'header', message: 'must be the first part' }])
      else if ('chunks' in part) {
        // Before the recording, which takes the longest and may break off.
        await this.take(source, spans.splice(0))
        await this.#takeRecording(source, header, part.chunks)
      } else if (part.name === 'chat_history') {
        spans.push(...spansOfHistory(header.jobId, part.value))
      }
    }
    if (!header) throw invalidRequest([{ field: 'header', message: 'is required' }])
    await this.take(source, spans)
  }

  async #takeRecording(
    { projectId }: OpenSource,
    { callId, isRedacted }: RecordingHeader,
    chunks: AsyncIterable<Uint8Array>,
  ): Promise<void> {
    const { keepsRecording, keepRecording } = this.#parts
    if (isRedacted || !(await keepsRecording(projectId, callId))) return
    try {
      await keepRecording(projectId, callId, chunks)
    } catch (error) {
      // Its call was deleted, so there is nothing to keep and nothing to send again.
      if (!(error instanceof AppError) || !['not_found', 'call_was_deleted'].includes(error.code)) throw error
    }
  }
}
