import { setTimeout as sleep } from 'node:timers/promises'
import type { Lease } from '../../db/lease.ts'
import type { OpenDatabase } from '../../db/open.ts'
import type { SettingsOf } from '../../db/project-settings.ts'
import { AppError } from '../../errors.ts'
import type { Log } from '../../observability/log.ts'
import { Background } from '../../threads/background.ts'
import { jsonOf } from '../../validation.ts'
import type { Recordings } from '../recordings.ts'
import { type AddressGuard, type Answer, type Download, download } from './download.ts'
import { FetchFailure, nextAttempt } from './failure.ts'
import type { Due, FetchQueue } from './fetch-queue.ts'

const fetchesMax = 4
/** In all, so that requests have most of the machine. */
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

interface FetcherOptions {
  database: Pick<OpenDatabase, 'onCommit'>
  queue: FetchQueue
  recordings: Pick<Recordings, 'keep'>
  settingsOf: SettingsOf
  platforms: {
    /** A request, or why none can be made, as a sentence. */
    requestFor(
      sourceId: string,
      call: Pick<Due, 'id' | 'reference'>,
    ): Promise<PlatformRequest | { problem: string }>
  }
  guard: AddressGuard
  /** Held by the one node that fetches, of several on one database. */
  lease: Pick<Lease, 'take' | 'release'>
  config: { readonly recordingBytesMax: number }
  now: () => number
  log: Pick<Log, 'warn'>
  idleMs?: number
}

/** Fetches what is queued, in the process that owns the folder: a few at once, with the projects taking turns. */
export class RecordingFetcher {
  readonly #options: FetcherOptions
  readonly #background: Background
  readonly #aborting = new AbortController()
  readonly #fetching = new Map<Due, Promise<void>>()
  /** One function, so that it is called once, however often `start` is. */
  readonly #look = () => this.#background.soon()
  /** By `performance.now()`, when the next bytes may be taken. */
  #readyAt = 0

  constructor(options: FetcherOptions) {
    this.#options = options
    this.#background = new Background({
      work: () => this.#fetchDue(),
      delayMs: lookDelayMs,
      retryMsMax,
      onFailure: (error) =>
        options.log.warn({ error }, 'Reading the queue of recordings failed and will be tried again'),
    })
  }

  /** Fetches what is queued, now and after each commit. */
  start(): void {
    this.#background.soon()
    this.#options.database.onCommit(this.#look)
  }

  /** Aborts the fetches under way. They begin again after the next start. */
  async close(): Promise<void> {
    this.#aborting.abort(new Error('The fetch was aborted'))
    await this.#background.close()
    await Promise.all(this.#fetching.values())
    // If the database cannot be reached, the lease expires by itself.
    await this.#options.lease.release().catch(() => undefined)
  }

  /** Resolves to the time until the queue is read again, unless something is written earlier; null if it is empty. */
  async #fetchDue(): Promise<number | null> {
    const { queue, lease, now } = this.#options
    const dueAt = await queue.nextDueAt()
    if (dueAt === null) return null
    if (dueAt <= now() && (await lease.take())) {
      while (this.#fetching.size < fetchesMax) {
        const due = await queue.next([...this.#fetching.keys()])
        if (!due || this.#aborting.signal.aborted) break
        this.#begin(due)
      }
    }
    // The clock may be set forward.
    return Math.min(Math.max(0, dueAt - now()) || lookEveryMs, lookEveryMs)
  }

  #begin(due: Due): void {
    const { log } = this.#options
    const { signal } = this.#aborting
    const fetching = this.#attempt(due)
      .catch(async (error) => {
        if (signal.aborted) return
        log.warn({ error }, 'Noting the end of a fetch failed, and it will begin again')
        await sleep(retryMsMax, null, { signal, ref: false }).catch(() => undefined)
      })
      .finally(() => {
        this.#fetching.delete(due)
        this.#background.soon(0)
      })
    this.#fetching.set(due, fetching)
  }

  /** One attempt, and what follows from it. */
  async #attempt(due: Due): Promise<void> {
    const { queue, now } = this.#options
    const failure = await this.#fetch(due).then(
      () => null,
      (error) => toFailure(error),
    )
    if (failure === null || this.#aborting.signal.aborted) return
    const dueAt = nextAttempt(failure, { ...due, now: now() })
    if (dueAt === null) await queue.giveUp(due, failure.reason)
    else await queue.postpone(due, dueAt, failure.message)
  }

  /** Tries the address in the event, then the platform's API. @throws the last failure */
  async #fetch(due: Due): Promise<void> {
    const { settingsOf, platforms } = this.#options
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
    if (sourceId !== null && !this.#aborting.signal.aborted) {
      const request = await platforms.requestFor(sourceId, due)
      if ('url' in request) {
        if (await keep(() => this.#ask(request))) return
      } else if (address === null) failure = new FetchFailure('none', request.problem)
    }
    throw failure
  }

  /** @throws FetchFailure or AppError */
  async #keep(due: Due, open: () => Promise<Answer>): Promise<void> {
    const { recordings, queue, config } = this.#options
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
    const address = request.addressIn(await readJson(answer))
    if (address === null)
      throw new FetchFailure('hour', `${request.label} has no recording of this call yet.`)
    return await this.#open({ url: address })
  }

  async #open(wanted: Download): Promise<Answer> {
    const { guard, now, idleMs = idleMsDefault } = this.#options
    const signal = AbortSignal.any([this.#aborting.signal, AbortSignal.timeout(fetchMsMax)])
    return await download(wanted, { guard, signal, idleMs, now })
  }

  async *#paced(parts: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    const { signal } = this.#aborting
    for await (const part of parts) {
      yield part
      const now = performance.now()
      this.#readyAt = Math.max(this.#readyAt, now) + (part.byteLength / bytesPerSecondMax) * 1_000
      if (this.#readyAt - now > 1) await sleep(this.#readyAt - now, null, { signal })
    }
  }
}

async function readJson({ parts }: Answer): Promise<unknown> {
  const read: Uint8Array[] = []
  let bytes = 0
  for await (const part of parts) {
    bytes += part.byteLength
    if (bytes > jsonBytesMax) break
    read.push(part)
  }
  return jsonOf(Buffer.concat(read).toString())
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
