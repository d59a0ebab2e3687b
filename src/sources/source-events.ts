import type { LookUps } from '../agents/look-ups.ts'
import type { Ingest } from '../calls/writing/ingest.ts'
import type { Core } from '../core/core.ts'
import { AppError, unavailable } from '../errors.ts'
import type { FetchQueue } from '../recordings/fetching/fetch-queue.ts'
import { filterOf } from '../text/tags.ts'
import type { Fault, SignedRequest } from './event.ts'
import type { EventCounts } from './event-counts.ts'
import { answerTo, eventsOf, hasSecret, isSigned, platforms, readEvent, recordingIn } from './platforms.ts'
import type { SourceFailures } from './source-failures.ts'
import type { Sources, WebhookSource } from './sources.ts'

/** A full disk needs an operator, so an early retry is of no use. */
const fullRetrySeconds = 60

interface SourceEventsParts {
  sources: Sources
  failures: SourceFailures
  counts: EventCounts
  /** Creates or merges calls. */
  ingest: Pick<Ingest, 'putEvent'>
  /** Queues recordings to be fetched, if the project keeps them. */
  recordings: Pick<FetchQueue, 'enqueue'>
  /** Answers questions from a platform's agent during a call. */
  lookUps: Pick<LookUps, 'answer'>
}

/** Reads a body as JSON. @throws invalid_request */
type Parse = (body: Uint8Array) => unknown

/** Receives the events that platforms send. */
export class SourceEvents {
  readonly #parts: Core & SourceEventsParts

  constructor(core: Core, parts: SourceEventsParts) {
    this.#parts = { ...core, ...parts }
  }

  /**
   * Whether a request is genuine by its headers alone, since they have the secret.
   * @throws invalid_signature if they do not, and the platform does not sign its requests either
   */
  isKnown({ platform, secrets }: WebhookSource, headers: Headers): boolean {
    const isKnown = hasSecret(platforms[platform], headers, secrets)
    if (!isKnown && !platforms[platform].isSigned) throw notGenuine()
    return isKnown
  }

  /** @throws invalid_signature */
  verify({ platform, secrets }: WebhookSource, signed: Pick<SignedRequest, 'headers' | 'body'>): void {
    if (!isSigned(platforms[platform], { ...signed, now: this.#parts.now() }, secrets)) throw notGenuine()
  }

  /**
   * Stores a genuine event's update of a call; committed when it returns. An event that cannot be read becomes a failure
   * and is answered like any other, since platforms switch off webhooks that keep failing.
   * @returns the answer's body
   * @throws unavailable when a retry helps
   */
  async receive(source: WebhookSource, body: Uint8Array, parse: Parse): Promise<object> {
    try {
      return await this.#receive(source, body, parse)
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'insufficient_storage') throw error
      // Platforms retry after a 503.
      throw unavailable(error.detail, fullRetrySeconds)
    }
  }

  async #receive(source: WebhookSource, body: Uint8Array, parse: Parse): Promise<object> {
    const { failures, counts, lookUps, now } = this.#parts
    counts.add(source.id, now())
    const read = resultOf(() => parse(body))
    if (read.fault) {
      await failures.add(source, read.fault, null)
      return {}
    }
    const { platform, projectId, options } = source
    const tags = filterOf(options.tags ? options.tags.split(',') : [])
    const answer = await lookUps.answer(platform, { projectId, tags }, read.value)
    if (answer) return answer
    const fault = await this.#write(source, read.value)
    if (fault) await failures.add(source, fault, read.value)
    return answerTo(platforms[source.platform], read.value)
  }

  /**
   * Reads the failures of a source again, as after an update of Callbook.
   * @returns how many were read, and how many still cannot be
   * @throws not_found
   */
  async readAgain(projectId: number, id: string): Promise<{ read: number; failed: number }> {
    const { sources, failures } = this.#parts
    await sources.get(projectId, id)
    const source = await sources.open(id)
    const counts = { read: 0, failed: 0 }
    for (let seq = 0; ; ) {
      const failure = await failures.next(id, seq)
      if (!failure) return counts
      seq = failure.seq
      if (await this.#write(source, JSON.parse(failure.event))) counts.failed++
      else {
        await failures.resolve(source, seq)
        counts.read++
      }
    }
  }

  /** @returns why the event cannot be stored; null if it is stored or has nothing to store */
  async #write(source: WebhookSource, body: unknown): Promise<Fault | null> {
    const read = readEvent(platforms[source.platform], body, source.options)
    if (read === null || !('id' in read)) return read
    const { whole, bare } = eventsOf(read)
    const fault = await this.#put(source, read.id, whole)
    // Too much metadata must not cost the rest of the event.
    const rest = fault?.field === 'details.metadata' ? await this.#put(source, read.id, bare) : fault
    if (rest) return rest
    await this.#queueRecording(source, read.id, body)
    return fault
  }

  async #queueRecording(
    { id: sourceId, projectId, platform, options }: WebhookSource,
    id: string,
    body: unknown,
  ) {
    const recording = recordingIn(platforms[platform], body, options)
    if (recording) await this.#parts.recordings.enqueue(projectId, id, { ...recording, sourceId })
  }

  async #put({ projectId, platform }: WebhookSource, id: string, event: object): Promise<Fault | null> {
    try {
      await this.#parts.ingest.putEvent(projectId, id, event, platform)
      return null
    } catch (error) {
      if (error instanceof AppError) return faultOf(error)
      throw error
    }
  }
}

/** The fault of an event that can never be stored; null for a deleted call, whose events are dropped. @throws others */
export function faultOf(error: AppError): Fault | null {
  switch (error.code) {
    case 'call_was_deleted':
      return null
    case 'invalid_request':
      return faultOfBody(error)
    case 'payload_too_large':
      return { field: 'body', message: error.detail }
    default:
      throw error
  }
}

function resultOf(read: () => unknown): { value?: unknown; fault?: Fault } {
  try {
    return { value: read() }
  } catch (error) {
    if (error instanceof AppError) return { fault: { ...faultOfBody(error), field: 'body' } }
    throw error
  }
}

/** Without the names that an analysis or metadata have: a failure quotes nothing of its event. */
function faultOfBody({ errors, detail }: AppError): Fault {
  const { field, message } = errors?.[0] ?? { field: 'body', message: detail }
  return { field: field.replace(/(?<=^callAnalysis|metadata)\..*/s, ''), message }
}

function notGenuine(): AppError {
  return new AppError('invalid_signature', 'Invalid signature', {
    detail: 'The request is not signed with the secret of this source, or it is too old.',
    headers: { 'WWW-Authenticate': 'Bearer' },
  })
}
