import { setImmediate } from 'node:timers/promises'
import type { Lease } from '../db/lease.ts'
import type { OpenDatabase } from '../db/open.ts'
import type { Log } from '../observability/log.ts'
import { Background } from '../threads/background.ts'
import type { Addresses } from './addresses.ts'
import { failingMsMax } from './events.ts'
import type { Message, Messages } from './message.ts'
import { post } from './post.ts'
import { type Endpoint, isSuccess, type Outcome, type QueuedEvent, type WebhookQueue } from './queue.ts'
import { signedHeaders } from './signing.ts'

/** How often `data_version`, which SQLite changes at each commit, is read. It takes a microsecond. */
const pollMsOfFile = 50
const retryMs = 1_000
const retryMsMax = 30_000
const lookEveryMs = 1_000
/** Outcomes within this time are written in one transaction. */
const recordDelayMs = 10
const outcomesPerBatchMax = 500
const pruneEveryMs = 3_600_000
/** Concurrent requests to one endpoint. */
const requestsMax = 8
/** Characters of documents being sent to one endpoint at once. A longer document is sent alone. */
const charsMax = 1_048_576
/** After this many failures in a row, an endpoint gets one request at a time, with a pause after each. */
const failuresInRowMax = 3
const pauseMs = 1_000
/** How long an item's event waits for the due events of a deleted item with the same id. */
const afterDeletedMs = 500
const timeoutMsDefault = 15_000

interface SenderOptions {
  database: Pick<OpenDatabase, 'dataVersion' | 'readsAt' | 'isLocal'>
  config: { readonly databaseSyncIntervalMs: number }
  queue: WebhookQueue
  messages: Messages
  addresses: Addresses
  webhooks: { switchOff(endpoint: Endpoint, reason: string): Promise<void> }
  /** Held by the one node that sends, of several on one database. */
  lease: Pick<Lease, 'take' | 'release'>
  now: () => number
  log: Pick<Log, 'warn'>
  timeoutMs?: number
}

/** The requests in flight to an endpoint. */
class Lane {
  /** The refs of their records, by row id. */
  readonly refs = new Map<number, string>()
  chars = 0
  failuresInRow = 0
  notBefore = 0

  get free(): number {
    return (this.failuresInRow < failuresInRowMax ? requestsMax : 1) - this.refs.size
  }

  hasRoomFor(chars: number): boolean {
    return this.refs.size === 0 || this.chars + chars <= charsMax
  }
}

/** Sends the queued events, in the process that owns the folder. A slow endpoint does not delay the others. */
export class WebhookSender {
  readonly #options: SenderOptions
  readonly #lanes = new Map<string, Lane>()
  readonly #sending = new Set<Promise<void>>()
  readonly #aborting = new AbortController()
  readonly #sendingDue: Background
  /** Separate, so that sending does not wait for commits. */
  readonly #recording: Background
  readonly #outcomes: Outcome[] = []
  /** The `data_version` when the queue was last read. */
  #dataVersion = -1
  /** When to read the queue again, even if the database has not changed. */
  #readAt = 0
  #prunedAt = 0

  constructor(options: SenderOptions) {
    this.#options = options
    const { database, config, log } = options
    const pollMs = database.readsAt.kind === 'remote' ? config.databaseSyncIntervalMs : pollMsOfFile
    this.#sendingDue = new Background({
      work: (signal) => this.#sendDue(signal),
      everyMs: pollMs,
      delayMs: 0,
      retryMs,
      retryMsMax,
      onFailure: (error) => log.warn({ error }, 'Sending webhooks failed and will be tried again'),
    })
    this.#recording = new Background({
      work: async () => {
        await this.#recordOutcomes()
        return this.#outcomes.length > 0 ? 0 : null
      },
      delayMs: recordDelayMs,
      retryMs,
      retryMsMax,
      onFailure: (error) =>
        log.warn({ error }, 'Delivery attempts of webhooks were not recorded and will be tried again'),
    })
  }

  /** Sends what is queued, now and later. */
  start(): void {
    this.#sendingDue.soon()
  }

  /** Aborts the requests in flight. They are sent again after the next start, with the same ids. */
  async close(): Promise<void> {
    this.#aborting.abort()
    await Promise.all([this.#sendingDue.close(), this.#recording.close()])
    await Promise.all(this.#sending)
    // Events whose outcome is not recorded are sent again.
    await this.#recordOutcomes().catch(() => undefined)
    // If the database cannot be reached, the lease expires by itself.
    await this.#options.lease.release().catch(() => undefined)
  }

  async #recordOutcomes(): Promise<void> {
    const outcomes = this.#outcomes.slice(0, outcomesPerBatchMax)
    if (outcomes.length === 0) return
    const { queue, webhooks, now } = this.#options
    await queue.record(outcomes)
    // More may have been added meanwhile.
    this.#outcomes.splice(0, outcomes.length)
    for (const { endpoint, row } of outcomes) this.#release(endpoint, row)
    this.#readAt = 0
    this.#sendingDue.soon()
    for (const { endpoint, result } of outcomes) {
      if (!result || 'dueAt' in result || isSuccess(result)) continue
      const { failingSince } = endpoint
      if (failingSince === null || now() - failingSince < failingMsMax) continue
      await webhooks.switchOff(endpoint, 'Every attempt has failed for five days.')
    }
  }

  async #sendDue(signal: AbortSignal): Promise<void> {
    const { database, queue, lease, now } = this.#options
    const time = now()
    const dataVersion = database.dataVersion()
    if (dataVersion === this.#dataVersion && time < this.#readAt) return
    const endpoints = await queue.endpoints()
    const isAnyDue = endpoints.some(({ dueAt }) => dueAt !== null && dueAt <= time)
    const isPruning = endpoints.length > 0 && Math.abs(time - this.#prunedAt) >= pruneEveryMs
    if ((isAnyDue || isPruning) && !(await lease.take())) return
    if (isPruning) {
      await queue.prune(time)
      this.#prunedAt = time
    }
    let readAt = Number.POSITIVE_INFINITY
    for (const endpoint of endpoints) {
      signal.throwIfAborted()
      readAt = Math.min(readAt, await this.#sendTo(endpoint, time))
    }
    this.#forgetAllBut(endpoints)
    this.#dataVersion = dataVersion
    this.#readAt = readAt
  }

  /** @returns when to look again, unless the database changes earlier */
  async #sendTo(endpoint: Endpoint, time: number): Promise<number> {
    if (endpoint.dueAt === null) return Number.POSITIVE_INFINITY
    if (endpoint.dueAt > time) return endpoint.dueAt
    const lane = this.#laneOf(endpoint)
    if (lane.notBefore > time) return lane.notBefore
    if (lane.free <= 0) return time + lookEveryMs
    // Taken before the query: a request may end while it runs, and its row must not be sent again.
    const inFlight = new Set(lane.refs.keys())
    const rows = await this.#options.queue.due(endpoint.id, time, inFlight.size + lane.free)
    for (const row of rows) {
      if (inFlight.has(row.id)) continue
      if (lane.free <= 0 || !lane.hasRoomFor(row.chars)) break
      await this.#send(endpoint, lane, row)
    }
    await setImmediate()
    // `dueAt` is that of a request in flight, if there is one. Another row may be due before the next change.
    return time + lookEveryMs
  }

  async #send(endpoint: Endpoint, lane: Lane, row: QueuedEvent): Promise<void> {
    const { queue, messages } = this.#options
    // A sent row only delays the next change of its call, and is done now.
    const message = row.isSent ? null : await messages.of(endpoint, row)
    if (!message) {
      lane.refs.set(row.id, '')
      return this.#ended({ endpoint, row, result: null })
    }
    // Only an item can have several row numbers, if it was deleted and created again with the same id.
    if ([...lane.refs.values()].includes(message.ref)) return
    const earlierDueAt = row.kind === 'item' ? await queue.earlierDueAt(endpoint.id, row, message.ref) : null
    if (earlierDueAt !== null) {
      // An empty ref, since its own would block the earlier events.
      lane.refs.set(row.id, '')
      const dueAt = Math.max(earlierDueAt + 1, this.#options.now() + afterDeletedMs)
      return this.#ended({ endpoint, row, result: { dueAt } })
    }
    lane.refs.set(row.id, message.ref)
    lane.chars += row.chars
    const sending = this.#deliver(endpoint, lane, row, message)
    this.#sending.add(sending)
    void sending.finally(() => this.#sending.delete(sending))
  }

  async #deliver(endpoint: Endpoint, lane: Lane, row: QueuedEvent, message: Message): Promise<void> {
    const { addresses, now, log, timeoutMs = timeoutMsDefault } = this.#options
    const { id: messageId, body } = message
    const at = now()
    const { secret, previousSecret, previousSecretUntil } = endpoint
    const isRotating = previousSecret !== null && previousSecretUntil !== null && previousSecretUntil > at
    const secrets = isRotating ? [secret, previousSecret] : [secret]
    const result = await post(new URL(endpoint.url), {
      ...{ body, addresses, timeoutMs, signal: this.#aborting.signal },
      headers: signedHeaders({ secrets, messageId, body, at }),
    })
    if (this.#aborting.signal.aborted) return
    const isFailure = !isSuccess(result)
    lane.failuresInRow = isFailure ? lane.failuresInRow + 1 : 0
    lane.notBefore = lane.failuresInRow < failuresInRowMax ? 0 : now() + pauseMs
    const { status, error } = result
    if (isFailure && endpoint.failures === 0)
      log.warn({ webhook: endpoint.id, status, error }, 'A webhook was not accepted and will be sent again')
    this.#ended({ endpoint, row, result: { messageId, at, bytes: Buffer.byteLength(body), ...result } })
  }

  #ended(outcome: Outcome): void {
    this.#outcomes.push(outcome)
    this.#recording.soon()
  }

  #release(endpoint: Endpoint, row: QueuedEvent): void {
    const lane = this.#laneOf(endpoint)
    if (lane.refs.get(row.id)) lane.chars -= row.chars
    lane.refs.delete(row.id)
  }

  #laneOf({ id }: Endpoint): Lane {
    let lane = this.#lanes.get(id)
    if (!lane) {
      lane = new Lane()
      this.#lanes.set(id, lane)
    }
    return lane
  }

  /** Keeps the lane of a removed endpoint while requests are in flight. */
  #forgetAllBut(endpoints: readonly Endpoint[]): void {
    const ids = new Set(endpoints.map(({ id }) => id))
    for (const [id, lane] of this.#lanes) if (!ids.has(id) && lane.refs.size === 0) this.#lanes.delete(id)
  }
}
