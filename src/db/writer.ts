import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import {
  type Client,
  type InArgs,
  type InStatement,
  LibsqlError,
  type Replicated,
  type ResultSet,
} from '@libsql/client'
import { drizzle, type LibSQLDatabase } from 'drizzle-orm/libsql'
import { AppError } from '../errors.ts'
import type { RemoteLocation } from './location.ts'
import { primaryAwayCode, writeUnanswered } from './remote-client.ts'
import {
  fromPlainResult,
  meansLock,
  type PlainResult,
  type WriterCall,
  type WriterReply,
  type WriterTarget,
  type WriterValue,
} from './writer-messages.ts'

/** Writes waiting or running; beyond it a write is refused at once instead of growing memory. */
const writesQueuedMax = 2_000

/** Drizzle whose every statement runs in the writer's worker. Write with `batch`: it is one transaction. */
export type WriteDatabase = LibSQLDatabase

export interface Writer {
  readonly db: WriteDatabase
  readonly client: Client
  /** See stale-cells.ts. */
  clearStalePages(pages: number[]): Promise<void>
  /** Finishes what is queued, closes the connection and ends the worker. */
  close(): Promise<void>
}

/** After it a write through a server is answered as unavailable: together with what leads up to it, three seconds. */
const deadlineMs = 2_800
const deadlineMsOfRequest = 2_500
/** Statements that change nothing. */
const readingPattern = /^\s*(select|pragma)\b/i

/** Starts the worker that owns the only connection that writes to the database at `url` (`file:…`). */
export function openWriter(url: string): Writer {
  return toWriter(new WorkerClient({ kind: 'file', url }))
}

/**
 * The same for a libSQL server; each call has a deadline of its own.
 * @param afterWrite awaited before a write is acknowledged: makes it visible to whoever reads here
 */
export function openRemoteWriter(location: RemoteLocation, afterWrite: () => Promise<void>): Writer {
  return toWriter(
    new WorkerClient(
      { kind: 'remote', location, deadlineMs: deadlineMsOfRequest },
      { deadlineMs, afterWrite },
    ),
  )
}

function toWriter(client: WorkerClient): Writer {
  return {
    db: drizzle(client),
    client,
    clearStalePages: (pages) => client.clearStalePages(pages),
    close: () => client.shutdown(),
  }
}

interface Remote {
  deadlineMs: number
  afterWrite: () => Promise<void>
}

interface Waiting {
  resolve(value: WriterValue): void
  reject(error: Error): void
}

/**
 * `@libsql/client`'s interface over messages to the worker, so that Drizzle and its migrations use it
 * unchanged. Calls run one after the other, in the order they were made.
 */
class WorkerClient implements Client {
  readonly protocol = 'file'
  closed = false
  readonly #worker: Worker
  readonly #waiting = new Map<number, Waiting>()
  /** Null for a file of our own. */
  readonly #remote: Remote | null
  #lastId = 0

  constructor(target: WriterTarget, remote: Remote | null = null) {
    this.#remote = remote
    this.#worker = new Worker(new URL('./writer-worker.ts', import.meta.url), { workerData: target })
    this.#worker.on('message', (reply: WriterReply) => this.#settle(reply))
    this.#worker.on('error', (error) => this.#failAll(error))
    this.#worker.on('exit', () => this.#failAll(new Error('The writer has ended')))
  }

  async execute(statement: InStatement | string, args?: InArgs): Promise<ResultSet> {
    const whole = typeof statement === 'string' && args ? { sql: statement, args } : statement
    return fromPlainResult((await this.#send({ method: 'execute', statement: whole })) as PlainResult)
  }

  /** Always one `BEGIN IMMEDIATE` transaction: a deferred one fails when another process wrote in between. */
  async batch(statements: Parameters<Client['batch']>[0]): Promise<ResultSet[]> {
    const results = await this.#send({
      method: 'batch',
      statements: statements as Extract<WriterCall, { method: 'batch' }>['statements'],
    })
    return (results as PlainResult[]).map(fromPlainResult)
  }

  async migrate(statements: InStatement[]): Promise<ResultSet[]> {
    return ((await this.#send({ method: 'migrate', statements })) as PlainResult[]).map(fromPlainResult)
  }

  async executeMultiple(sql: string): Promise<void> {
    await this.#send({ method: 'executeMultiple', sql })
  }

  async sync(): Promise<Replicated> {
    throw new LibsqlError('A replica is brought up to date by another worker', 'NOT_SUPPORTED')
  }

  async clearStalePages(pages: number[]): Promise<void> {
    await this.#send({ method: 'clearStalePages', pages })
  }

  async transaction(): Promise<never> {
    throw new LibsqlError('Interactive transactions would block the writer: use batch()', 'NOT_SUPPORTED')
  }

  reconnect(): void {}

  close(): void {
    void this.shutdown()
  }

  async shutdown(): Promise<void> {
    if (this.closed) return
    const ended = once(this.#worker, 'exit')
    this.closed = true
    const closing = this.#post({ method: 'close' })
    await closing
    await ended
  }

  #send(call: WriterCall): Promise<WriterValue> {
    if (this.closed) return Promise.reject(new LibsqlError('The client is closed', 'CLIENT_CLOSED'))
    if (this.#waiting.size >= writesQueuedMax) return Promise.reject(busy('Too many writes are waiting.'))
    return this.#remote ? this.#sendFar(call, this.#remote) : this.#post(call)
  }

  async #sendFar(call: WriterCall, { deadlineMs, afterWrite }: Remote): Promise<WriterValue> {
    // Migrations take the time they need, and nobody waits for an answer meanwhile.
    if (call.method === 'migrate' || call.method === 'executeMultiple') {
      const value = await this.#post(call)
      await afterWrite()
      return value
    }
    const written = this.#post(call).then(async (value) => {
      if (changesRows(call)) await afterWrite()
      return value
    })
    return await withinTime(deadlineMs, written)
  }

  #post(call: WriterCall): Promise<WriterValue> {
    const id = ++this.#lastId
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject })
      this.#worker.postMessage({ id, call })
    })
  }

  #settle(reply: WriterReply): void {
    const waiting = this.#waiting.get(reply.id)
    if (!waiting) return
    this.#waiting.delete(reply.id)
    if (reply.ok) waiting.resolve(reply.value)
    else waiting.reject(toError(reply.error))
  }

  #failAll(error: Error): void {
    this.closed = true
    for (const waiting of this.#waiting.values()) waiting.reject(error)
    this.#waiting.clear()
  }
}

function changesRows(call: WriterCall): boolean {
  if (call.method !== 'execute') return true
  const { statement } = call
  return !readingPattern.test(typeof statement === 'string' ? statement : statement.sql)
}

/** Gives up waiting when the time is over; the work itself goes on. */
function withinTime<Value>(timeoutMs: number, work: Promise<Value>): Promise<Value> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(writeUnanswered()), timeoutMs)
    work.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}

/** What a caller can act on becomes an answer of its own; anything else is an internal error. */
function toError({ message, code }: { message: string; code: string }): Error {
  if (code === 'SQLITE_FULL') {
    return new AppError('insufficient_storage', 'Insufficient storage', {
      detail: 'The disk that holds the database is full; nothing was written.',
      cause: new LibsqlError(message, code),
    })
  }
  if (code === primaryAwayCode) return writeUnanswered(new LibsqlError(message, code))
  if (meansLock(code)) {
    return busy('Another process is holding the database; nothing was written.')
  }
  return new LibsqlError(message, code)
}

function busy(detail: string): AppError {
  return new AppError('unavailable', 'Service unavailable', { detail, retryAfterSeconds: 1 })
}
