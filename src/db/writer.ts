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
import { lacksProject } from './constraint.ts'
import type { RemoteLocation } from './location.ts'
import { primaryAwayCode, tokenRefused, tokenRefusedCode, writeUnanswered } from './remote-client.ts'
import { projectWasDeleted } from './store.ts'
import {
  fromPlainResult,
  meansConflict,
  meansLock,
  meansRefusal,
  type PlainResult,
  type WriterCall,
  type WriterReply,
  type WriterRequest,
  type WriterTarget,
  type WriterValue,
} from './writer-messages.ts'

const restartDelayMsMin = 100
const restartDelayMsMax = 30_000
/** After it a write through a server is answered as unavailable: together with what leads up to it, three seconds. */
const deadlineMs = 2_800
const requestDeadlineMs = 2_500
/** Statements that change nothing. */
const readingPattern = /^\s*(select|pragma)\b/i
/** Writes waiting or running; beyond it a write is refused at once instead of growing memory. */
const writesQueuedMax = 2_000
/** Characters of large writes waiting or running; small ones are bounded by their number. */
const charsQueuedMax = 67_108_864
const smallWriteCharsMax = 65_536
/** A disk that refuses waits for somebody who sees to it. */
const refusedRetrySeconds = 5

/** Drizzle whose every statement runs in the writer's worker. Write with `batch`: it is one transaction. */
export type WriteDatabase = LibSQLDatabase

export interface Writer {
  readonly db: WriteDatabase
  /** The same for what frees space, which is written also on a full disk: see reserve.ts. */
  readonly freeing: WriteDatabase
  readonly client: Client
  /** False while a worker that failed is not up again. */
  isUp(): boolean
  /** Keeps room on the disk for what frees some; for the process that owns the folder. */
  keepReserve(): Promise<void>
  /** See stale-cells.ts. */
  clearStalePages(pages: number[]): Promise<void>
  /**
   * Tries to leave the write-ahead log empty, and holds up other writes for so long at most.
   * @returns whether it is; readers in the middle of a query prevent it
   */
  emptyLog(holdUpMs: number): Promise<boolean>
  /** Finishes what is queued, closes the connection and ends the worker. */
  close(): Promise<void>
}

export interface WriterOptions {
  /** Told when the worker failed; it is started again. */
  onFailure?: (error: Error) => void
  /** Told when the disk refuses what is written, such as a read-only one, and with null when it takes it again. */
  onDisk?: (problem: Error | null) => void
}

interface RemoteWriterOptions extends WriterOptions {
  /** Awaited before a write is acknowledged: makes it visible to whoever reads here. */
  afterWrite: () => Promise<void>
}

/** Starts the worker that owns the only connection that writes to the database at `url` (`file:…`). */
export function openWriter(
  url: string,
  { onFailure = () => undefined, onDisk = () => undefined }: WriterOptions = {},
): Writer {
  return toWriter(new WriterWorker({ kind: 'file', url }, { onFailure, onDisk, afterWrite: null }))
}

/** The same for a libSQL server; each call has a deadline of its own. */
export function openRemoteWriter(
  location: RemoteLocation,
  { onFailure = () => undefined, onDisk = () => undefined, afterWrite }: RemoteWriterOptions,
): Writer {
  const target = { kind: 'remote', location, deadlineMs: requestDeadlineMs } as const
  return toWriter(new WriterWorker(target, { onFailure, onDisk, afterWrite }))
}

function toWriter(worker: WriterWorker): Writer {
  const client = new WorkerClient(worker, false)
  const freeing = new WorkerClient(worker, true)
  return {
    db: drizzle(client),
    freeing: drizzle(freeing),
    client,
    isUp: () => worker.isUp,
    keepReserve: () => worker.keepReserve(),
    clearStalePages: async (pages) => {
      await worker.send({ method: 'clearStalePages', pages }, true)
    },
    emptyLog: async (holdUpMs) => (await worker.send({ method: 'emptyLog', holdUpMs }, true)) === true,
    close: () => worker.close(),
  }
}

interface Waiting {
  /** Characters of its values that count against the limit. */
  chars: number
  /** Whether the call writes anything, if it succeeds. */
  changes: boolean
  resolve(value: WriterValue): void
  reject(error: Error): void
}

interface WorkerOptions {
  onFailure: (error: Error) => void
  onDisk: (problem: Error | null) => void
  /** Null for a file of our own. */
  afterWrite: (() => Promise<void>) | null
}

/** Calls to the worker; on a file they run one after the other in the order they were made. */
class WriterWorker {
  isClosed = false
  readonly #target: WriterTarget
  readonly #onFailure: (error: Error) => void
  readonly #onDisk: (problem: Error | null) => void
  readonly #afterWrite: (() => Promise<void>) | null
  readonly #waiting = new Map<number, Waiting>()
  #charsQueued = 0
  #worker: Worker | null
  /** What cannot be opened at all fails at once; what has worked before is started again. */
  #hasWorked = false
  #keepsReserve = false
  #isRefused = false
  #restart: ReturnType<typeof setTimeout> | undefined
  #restartDelayMs = restartDelayMsMin
  #lastId = 0

  constructor(target: WriterTarget, { onFailure, onDisk, afterWrite }: WorkerOptions) {
    this.#target = target
    this.#onFailure = onFailure
    this.#onDisk = onDisk
    this.#afterWrite = afterWrite
    this.#worker = this.#start()
  }

  get isUp(): boolean {
    return this.#worker !== null
  }

  async keepReserve(): Promise<void> {
    this.#keepsReserve = true
    await this.send({ method: 'keepReserve' }, true)
  }

  send(call: WriterCall, frees: boolean): Promise<WriterValue> {
    if (this.isClosed) return Promise.reject(new LibsqlError('The client is closed', 'CLIENT_CLOSED'))
    if (!this.#worker) return Promise.reject(busy('The writer is starting again; nothing was written.'))
    if (this.#waiting.size >= writesQueuedMax) return Promise.reject(busy('Too many writes are waiting.'))
    const chars = largeCharsOf(call)
    // Alone a write is taken whatever it weighs.
    if (chars > 0 && this.#charsQueued > 0 && this.#charsQueued + chars > charsQueuedMax)
      return Promise.reject(busy('Too many large writes are waiting.'))
    const answered = this.#post(this.#worker, call, frees, chars)
    return this.#afterWrite ? inTime(call, answered, this.#afterWrite) : answered
  }

  async close(): Promise<void> {
    if (this.isClosed) return
    this.isClosed = true
    clearTimeout(this.#restart)
    const worker = this.#worker
    if (!worker) return
    const ended = once(worker, 'exit')
    await this.#post(worker, { method: 'close' }, true, 0)
    await ended
  }

  #start(): Worker {
    const worker = new Worker(new URL('./writer-worker.ts', import.meta.url), {
      workerData: this.#target,
    })
    worker.on('message', (reply: WriterReply) => this.#settle(reply))
    worker.on('error', (error) => this.#fail(worker, error))
    worker.on('exit', () => this.#fail(worker, new Error('The writer has ended')))
    return worker
  }

  #post(worker: Worker, call: WriterCall, frees: boolean, chars: number): Promise<WriterValue> {
    const id = ++this.#lastId
    this.#charsQueued += chars
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { chars, changes: changesRows(call), resolve, reject })
      worker.postMessage({ id, call, frees } satisfies WriterRequest)
    })
  }

  #settle(reply: WriterReply): void {
    this.#hasWorked = true
    this.#restartDelayMs = restartDelayMsMin
    const waiting = this.#waiting.get(reply.id)
    if (!waiting) return
    this.#waiting.delete(reply.id)
    this.#charsQueued -= waiting.chars
    this.#watchDisk(reply, waiting.changes)
    if (reply.ok) waiting.resolve(reply.value)
    else waiting.reject(toError(reply.error))
  }

  /** Told once, not with every write. */
  #watchDisk(reply: WriterReply, changes: boolean): void {
    const isRefused = !reply.ok && meansRefusal(reply.error.code)
    if (isRefused === this.#isRefused || (!isRefused && !(reply.ok && changes))) return
    this.#isRefused = isRefused
    this.#onDisk(reply.ok ? null : new LibsqlError(reply.error.message, reply.error.code))
  }

  #fail(worker: Worker, error: Error): void {
    if (this.#worker !== worker) return
    this.#worker = null
    const isLast = this.isClosed || !this.#hasWorked
    if (isLast) this.isClosed = true
    const reason = isLast ? error : busy('The writer has failed; this may have been written or not.')
    for (const waiting of this.#waiting.values()) waiting.reject(reason)
    this.#waiting.clear()
    this.#charsQueued = 0
    if (isLast) return
    this.#onFailure(error)
    this.#restart = setTimeout(() => this.#startAgain(), this.#restartDelayMs)
    this.#restartDelayMs = Math.min(this.#restartDelayMs * 2, restartDelayMsMax)
  }

  #startAgain(): void {
    this.#worker = this.#start()
    if (this.#keepsReserve) this.keepReserve().catch(this.#onFailure)
  }
}

/** `@libsql/client`'s interface over calls to the worker, so that Drizzle and its migrations use it unchanged. */
class WorkerClient implements Client {
  readonly protocol = 'file'
  readonly #worker: WriterWorker
  readonly #frees: boolean

  constructor(worker: WriterWorker, frees: boolean) {
    this.#worker = worker
    this.#frees = frees
  }

  get closed(): boolean {
    return this.#worker.isClosed
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

  async transaction(): Promise<never> {
    throw new LibsqlError('Interactive transactions would block the writer: use batch()', 'NOT_SUPPORTED')
  }

  reconnect(): void {}

  close(): void {
    void this.#worker.close()
  }

  #send(call: WriterCall): Promise<WriterValue> {
    return this.#worker.send(call, this.#frees)
  }
}

/** Migrations take the time they need; nobody waits for an answer meanwhile. */
async function inTime(
  call: WriterCall,
  answered: Promise<WriterValue>,
  afterWrite: () => Promise<void>,
): Promise<WriterValue> {
  const visible = answered.then(
    async (value) => {
      if (changesRows(call)) await afterWrite()
      return value
    },
    async (error: unknown) => {
      // Who was refused because of a row that somebody else has written looks for it here.
      if (meansConflict(error)) await afterWrite()
      throw error
    },
  )
  if (call.method === 'migrate' || call.method === 'executeMultiple') return await visible
  return await withinTime(deadlineMs, visible)
}

function changesRows(call: WriterCall): boolean {
  if (call.method === 'emptyLog') return false
  if (call.method !== 'execute') return true
  const { statement } = call
  return !readingPattern.test(typeof statement === 'string' ? statement : statement.sql)
}

/** Characters and bytes of a call's values; 0 when they are few. */
function largeCharsOf(call: WriterCall): number {
  if (call.method !== 'batch' && call.method !== 'execute') return 0
  const statements = call.method === 'batch' ? call.statements : [call.statement]
  let chars = 0
  for (const statement of statements) {
    const args = typeof statement === 'string' ? [] : Array.isArray(statement) ? statement[1] : statement.args
    for (const value of Object.values(args ?? {})) {
      if (typeof value === 'string') chars += value.length
      else if (value instanceof ArrayBuffer || ArrayBuffer.isView(value)) chars += value.byteLength
    }
  }
  return chars > smallWriteCharsMax ? chars : 0
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
  if (meansRefusal(code)) {
    return new AppError('unavailable', 'Service unavailable', {
      detail: 'The disk refuses to write the database; this may have been written or not.',
      retryAfterSeconds: refusedRetrySeconds,
      cause: new LibsqlError(message, code),
    })
  }
  if (code === primaryAwayCode) return writeUnanswered(new LibsqlError(message, code))
  if (code === tokenRefusedCode) return tokenRefused(new LibsqlError(message, code))
  if (meansLock(code)) {
    return busy('Another process is holding the database; nothing was written.')
  }
  // By another node, and this one has not heard of it yet.
  if (lacksProject(message)) return projectWasDeleted(new LibsqlError(message, code))
  return new LibsqlError(message, code)
}

function busy(detail: string): AppError {
  return new AppError('unavailable', 'Service unavailable', { detail, retryAfterSeconds: 1 })
}
