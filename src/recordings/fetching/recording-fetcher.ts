import { setTimeout as sleep } from 'node:timers/promises'
import type { Core } from '../../core/core.ts'
import type { Job, Turn } from '../../core/jobs.ts'
import { AppError } from '../../errors.ts'
import type { Recordings } from '../recordings.ts'
import { type AddressGuard, type Answer, type Download, download } from './download.ts'
import { FetchFailure, nextAttempt } from './failure.ts'
import type { Due, FetchQueue } from './fetch-queue.ts'
import { readSmallJson } from './platform-client.ts'

const fetchesMax = 4
/** All fetches share these, so that requests have most of the machine. */
const bytesPerSecondMax = 16_777_216
const idleMsDefault = 30_000
/** One that takes longer would keep others waiting. */
const fetchMsMax = 1_800_000
const lookEveryMs = 1_000
const lookDelayMs = 100
const retryMsMax = 30_000
const jsonBytesMax = 1_048_576

/** How to ask a platform's API for a recording. */
interface PlatformRequest extends Download {
  label: string
  /** The address in an answer of JSON; null if there is none. */
  addressIn(answer: unknown): string | null
}

export interface FetcherParts {
  queue: FetchQueue
  recordings: Pick<Recordings, 'keep'>
  platforms: {
    /** A request, or why none can be made, as a sentence. */
    requestFor(
      sourceId: string,
      call: Pick<Due, 'id' | 'reference'>,
    ): Promise<PlatformRequest | { problem: string }>
  }
  guard: AddressGuard
  idleMs?: number
}

/** Fetches what is queued, in the process that owns the folder: a few at once, with the projects taking turns. */
export class RecordingFetcher {
  readonly #parts: Core & FetcherParts
  readonly #job: Job<Due>
  /** When the next bytes may be taken, by `performance.now()`. */
  #readyAt = 0

  constructor(core: Core, parts: FetcherParts) {
    this.#parts = { ...core, ...parts }
    this.#job = core.jobs.add<Due>({
      name: 'fetches',
      run: (turn) => this.#fetchDue(turn),
      delayMs: lookDelayMs,
      commitMs: lookDelayMs,
      retryMsMax,
      failure: 'Fetching a recording failed',
      level: 'warn',
    })
  }

  /** Resolves to the time until the queue is read again, unless something is written earlier; null if it is empty. */
  async #fetchDue({ isMine }: Turn): Promise<number | null> {
    const { queue, now } = this.#parts
    const dueAt = await queue.nextDueAt()
    if (dueAt === null) return null
    if (dueAt <= now() && (await isMine())) {
      while (this.#job.underWay.length < fetchesMax) {
        const due = await queue.next(this.#job.underWay)
        if (!due || this.#job.signal.aborted) break
        this.#job.begin(due, () => this.#attempt(due))
      }
    }
    // The clock may be set forward.
    return Math.min(Math.max(0, dueAt - now()) || lookEveryMs, lookEveryMs)
  }

  /** One attempt, and what follows from it. */
  async #attempt(due: Due): Promise<void> {
    const { queue, now } = this.#parts
    const failure = await this.#fetch(due).then(
      () => null,
      (error) => toFailure(error),
    )
    if (failure === null || this.#job.signal.aborted) return
    const dueAt = nextAttempt(failure, { ...due, now: now() })
    if (dueAt === null) await queue.giveUp(due, failure.reason)
    else await queue.postpone(due, dueAt, failure.message)
  }

  /** Tries the address in the event, then the platform's API. @throws the last failure */
  async #fetch(due: Due): Promise<void> {
    const { settingsOf, platforms } = this.#parts
    if ((await settingsOf(due.projectId)).recordings === 'off')
      throw new FetchFailure('none', 'The project does not keep recordings any more.')
    const { address, sourceId } = due
    let failure = new FetchFailure('none', 'The call has no address of a recording.')
    const keep = (open: () => Promise<Answer>) =>
      this.#keep(due, open).then(
        () => true,
        (error) => {
          failure = toFailure(error)
          return false
        },
      )
    if (address !== null && (await keep(() => this.#open({ url: address })))) return
    if (sourceId !== null && !this.#job.signal.aborted) {
      const request = await platforms.requestFor(sourceId, due)
      if ('url' in request) {
        if (await keep(() => this.#ask(request))) return
      } else if (address === null) failure = new FetchFailure('none', request.problem)
    }
    throw failure
  }

  /** @throws FetchFailure or AppError */
  async #keep(due: Due, open: () => Promise<Answer>): Promise<void> {
    const { recordings, queue, config } = this.#parts
    const answer = await open()
    try {
      const { who, bytes, parts } = answer
      if ((bytes ?? 0) > config.recordingBytesMax) throw tooLarge(config.recordingBytesMax)
      await recordings
        .keep(due.projectId, due.id, this.#paced(parts), queue.isWaiting(due))
        .catch((error) => Promise.reject(toFailure(error, { who, ...config })))
    } finally {
      answer.close()
    }
  }

  /** Asks a platform's API, which answers with the recording, a redirect to it, or JSON with its address. */
  async #ask(request: PlatformRequest): Promise<Answer> {
    const answer = await this.#open(request)
    if (!answer.isJson) return answer
    const address = request.addressIn(await readSmallJson(answer, jsonBytesMax))
    if (address === null)
      throw new FetchFailure('hour', `${request.label} has no recording of this call yet.`)
    return await this.#open({ url: address })
  }

  async #open(request: Download): Promise<Answer> {
    const { guard, now, idleMs = idleMsDefault } = this.#parts
    const signal = AbortSignal.any([this.#job.signal, AbortSignal.timeout(fetchMsMax)])
    return await download(request, { guard, signal, idleMs, now })
  }

  async *#paced(parts: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    const { signal } = this.#job
    for await (const part of parts) {
      yield part
      const now = performance.now()
      this.#readyAt = Math.max(this.#readyAt, now) + (part.byteLength / bytesPerSecondMax) * 1_000
      if (this.#readyAt - now > 1) await sleep(this.#readyAt - now, null, { signal })
    }
  }
}

function tooLarge(bytesMax: number): FetchFailure {
  return new FetchFailure('none', `The recording has more than ${bytesMax} bytes (RECORDING_MAX_BYTES).`)
}

/** What an error means for the next attempt. @param from who sent the recording, and how large it may be */
function toFailure(
  error: unknown,
  { who, recordingBytesMax }: { who: string; recordingBytesMax: number } = { who: '', recordingBytesMax: 0 },
): FetchFailure {
  if (error instanceof FetchFailure) return error
  if (!(error instanceof AppError)) throw error
  switch (error.code) {
    case 'payload_too_large':
      return tooLarge(recordingBytesMax)
    case 'unsupported_media_type':
      return new FetchFailure('none', `${who} sends something that is not a recording.`)
    case 'invalid_request':
      return new FetchFailure('none', `${who} sends an empty file.`)
    case 'insufficient_storage':
    case 'unavailable':
      return new FetchFailure('day', error.detail)
    default:
      return new FetchFailure('none', error.detail)
  }
}
