import { setImmediate } from 'node:timers/promises'
import type { Core } from '../core/core.ts'
import type { Job, Turn } from '../core/jobs.ts'
import type { Addresses } from './addresses.ts'
import { failingMsMax } from './events.ts'
import type { Message, Messages } from './message.ts'
import { isSuccess, Poster } from './post.ts'
import type { Endpoint, Outcome, QueuedEvent, WebhookQueue } from './queue.ts'
import { signedHeaders } from './signing.ts'
import type { Webhooks } from './webhooks.ts'

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
/** Rows of one endpoint that are read at once. */
const rowsPerRead = 64
/** With so many outcomes to record, nothing more is sent to an endpoint. */
const unrecordedMax = 512

interface SenderParts {
  queue: WebhookQueue
  messages: Messages
  addresses: Addresses
  webhooks: Pick<Webhooks, 'switchOff'>
  timeoutMs?: number
}

/** What is being sent to an endpoint. */
class Lane {
  /** The rows to send next. */
  due: QueuedEvent[] = []
  /** The rows in flight, and those whose outcome is not recorded yet: the refs of their records by row id. */
  readonly refs = new Map<number, string>()
  failuresInRow = 0
  notBefore = 0
  #requests = 0
  #chars = 0

  /** The next row, if it may be sent now. */
  take(now: number): QueuedEvent | undefined {
    const requests = this.failuresInRow < failuresInRowMax ? requestsMax : 1
    const [row] = this.due
    if (!row || this.notBefore > now || this.#requests >= requests) return undefined
    if (this.#requests > 0 && this.#chars + row.chars > charsMax) return undefined
    this.refs.set(row.id, '')
    this.#requests++
    this.#chars += row.chars
    return this.due.shift()
  }

  /** Ends the request of a row that was taken. */
  leave(row: QueuedEvent): void {
    this.#requests--
    this.#chars -= row.chars
  }
}

/** Sends the queued events, in the process that owns the folder. A slow endpoint does not delay the others. */
export class WebhookSender {
  readonly #parts: Core & SenderParts
  readonly #poster: Poster
  readonly #lanes = new Map<string, Lane>()
  readonly #job: Job<QueuedEvent>
  /** Separate, so that sending does not wait for commits. */
  readonly #recording: Job
  readonly #outcomes: Outcome[] = []
  #prunedAt = 0

  constructor(core: Core, parts: SenderParts) {
    this.#parts = { ...core, ...parts }
    this.#poster = new Poster(parts)
    this.#job = core.jobs.add<QueuedEvent>({
      name: 'webhooks',
      run: (turn) => this.#sendDue(turn),
      commitMs: 0,
      retryMsMax,
      failure: 'Sending webhooks failed',
      level: 'warn',
      atEnd: async () => {
        // First, since both write what is left.
        await this.#recording.close()
        // Events whose outcome is not recorded are sent again.
        await this.#recordOutcomes().finally(() => this.#poster.close())
      },
    })
    this.#recording = core.jobs.add({
      name: 'webhook attempts',
      run: async () => {
        await this.#recordOutcomes()
        return this.#outcomes.length > 0 ? 0 : null
      },
      delayMs: recordDelayMs,
      retryMsMax,
      failure: 'Delivery attempts of webhooks were not recorded',
      level: 'warn',
    })
  }

  async #recordOutcomes(): Promise<void> {
    const outcomes = this.#outcomes.slice(0, outcomesPerBatchMax)
    if (outcomes.length === 0) return
    const { queue, webhooks, now } = this.#parts
    await queue.record(outcomes)
    // More may have been added meanwhile.
    this.#outcomes.splice(0, outcomes.length)
    for (const { endpoint, row } of outcomes) this.#laneOf(endpoint).refs.delete(row.id)
    this.#job.soon()
    for (const { endpoint, result } of outcomes) {
      if (!result || 'dueAt' in result || isSuccess(result)) continue
      const { failingSince } = endpoint
      if (failingSince === null || now() - failingSince < failingMsMax) continue
      await webhooks.switchOff(endpoint, 'Every attempt has failed for five days.')
    }
  }

  /** Resolves to the time until the queue is read again, unless something is written earlier; null if it is empty. */
  async #sendDue({ signal, isMine }: Turn): Promise<number | null> {
    const { queue, now } = this.#parts
    const time = now()
    const endpoints = await queue.endpoints()
    const isAnyDue = endpoints.some(({ dueAt }) => dueAt !== null && dueAt <= time)
    const isPruning = endpoints.length > 0 && Math.abs(time - this.#prunedAt) >= pruneEveryMs
    if ((isAnyDue || isPruning) && !(await isMine())) return lookEveryMs
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
    // The clock may be set forward.
    return readAt === Number.POSITIVE_INFINITY ? null : Math.min(Math.max(0, readAt - now()), lookEveryMs)
  }

  /** @returns when to look again, unless the database changes earlier */
  async #sendTo(endpoint: Endpoint, time: number): Promise<number> {
    const lane = this.#laneOf(endpoint)
    lane.due = []
    if (endpoint.dueAt === null) return Number.POSITIVE_INFINITY
    if (endpoint.dueAt > time) return endpoint.dueAt
    if (lane.notBefore > time) return lane.notBefore
    if (lane.refs.size >= unrecordedMax) return time + lookEveryMs
    // Taken before the query: an outcome may be recorded while it runs, and its row must not be sent again.
    const unrecorded = new Set(lane.refs.keys())
    const rows = await this.#parts.queue.due(endpoint.id, time, unrecorded.size + rowsPerRead)
    lane.due = rows.filter(({ id }) => !unrecorded.has(id))
    await this.#sendNext(endpoint, lane)
    await setImmediate()
    // `dueAt` is that of a request in flight, if there is one. Another row may be due before the next change.
    return time + lookEveryMs
  }

  /** Sends the next rows of the lane, as many as it takes at once. */
  async #sendNext(endpoint: Endpoint, lane: Lane): Promise<void> {
    const { now } = this.#parts
    for (let row = lane.take(now()); row; row = lane.take(now())) {
      try {
        await this.#send(endpoint, lane, row)
      } catch (error) {
        lane.leave(row)
        lane.refs.delete(row.id)
        throw error
      }
    }
  }

  async #send(endpoint: Endpoint, lane: Lane, row: QueuedEvent): Promise<void> {
    const { queue, messages, now } = this.#parts
    // A sent row only delays the next change of its call, and is done now.
    const message = row.isSent ? null : await messages.of(endpoint, row)
    if (!message) return this.#unsent(endpoint, lane, row, null)
    if (row.kind === 'item') {
      // Only an item can have several row numbers, if it was deleted and created again with the same id.
      if ([...lane.refs.values()].includes(message.ref)) {
        lane.leave(row)
        lane.refs.delete(row.id)
        return
      }
      const earlierDueAt = await queue.earlierDueAt(endpoint.id, row, message.ref)
      if (earlierDueAt !== null) {
        const dueAt = Math.max(earlierDueAt + 1, now() + afterDeletedMs)
        return this.#unsent(endpoint, lane, row, { dueAt })
      }
    }
    lane.refs.set(row.id, message.ref)
    // What is recorded of it asks for another run.
    this.#job.begin(row, () => this.#attempt(endpoint, lane, row, message), false)
  }

  /** Ends a row without a request. Its ref stays empty, since its own would block earlier events. */
  #unsent(endpoint: Endpoint, lane: Lane, row: QueuedEvent, result: Outcome['result']): void {
    lane.leave(row)
    this.#ended({ endpoint, row, result })
  }

  async #attempt(endpoint: Endpoint, lane: Lane, row: QueuedEvent, message: Message): Promise<void> {
    const { now, log } = this.#parts
    const { id: messageId, body } = message
    const at = now()
    const { secret, previousSecret, previousSecretUntil } = endpoint
    const isRotating = previousSecret !== null && previousSecretUntil !== null && previousSecretUntil > at
    const secrets = isRotating ? [secret, previousSecret] : [secret]
    const result = await this.#poster.post(new URL(endpoint.url), {
      body,
      signal: this.#job.signal,
      // Slack and PagerDuty know nothing of our signature.
      headers: endpoint.kind === 'webhook' ? signedHeaders({ secrets, messageId, body, at }) : {},
    })
    lane.leave(row)
    if (this.#job.signal.aborted) return
    const isFailure = !isSuccess(result)
    lane.failuresInRow = isFailure ? lane.failuresInRow + 1 : 0
    lane.notBefore = lane.failuresInRow < failuresInRowMax ? 0 : now() + pauseMs
    const { status, error } = result
    if (isFailure && endpoint.failures === 0)
      log.warn(
        { webhook: endpoint.id, reason: error ?? `The endpoint answered ${status}` },
        'A webhook was not accepted and will be sent again',
      )
    this.#ended({ endpoint, row, result: { messageId, at, bytes: Buffer.byteLength(body), ...result } })
    // A failure is met again, and reported, when the queue is read.
    await this.#sendNext(endpoint, lane).catch(() => undefined)
  }

  #ended(outcome: Outcome): void {
    this.#outcomes.push(outcome)
    this.#recording.soon()
  }

  #laneOf({ id }: Endpoint): Lane {
    let lane = this.#lanes.get(id)
    if (!lane) {
      lane = new Lane()
      this.#lanes.set(id, lane)
    }
    return lane
  }

  /** Sends nothing more to deleted endpoints, and keeps their lanes while requests are in flight. */
  #forgetAllBut(endpoints: readonly Endpoint[]): void {
    const ids = new Set(endpoints.map(({ id }) => id))
    for (const [id, lane] of this.#lanes) {
      if (ids.has(id)) continue
      lane.due = []
      if (lane.refs.size === 0) this.#lanes.delete(id)
    }
  }
}
