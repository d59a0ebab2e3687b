import {
  type Client,
  type InArgs,
  type InStatement,
  LibsqlError,
  type Replicated,
  type ResultSet,
} from '@libsql/client'
import { drizzle, type LibSQLDatabase } from 'drizzle-orm/libsql'
import { AppError, projectWasDeleted } from '../errors.ts'
import { Thread } from '../threads/thread.ts'
import { lacksProject } from './constraint.ts'
import type { RemoteLocation } from './location.ts'
import { primaryAwayCode, tokenRefused, tokenRefusedCode, writeUnanswered } from './remote-client.ts'
import {
  fromPlainResult,
  meansConflict,
  meansLock,
  meansRefusal,
  type PlainResult,
  type WriterCall,
  type WriterSession,
  type WriterTarget,
  type WriterValue,
} from './writer-messages.ts'

const closeWithinMs = 60_000
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
  return toWriter(new WriterThread({ kind: 'file', url }, { onFailure, onDisk, afterWrite: null }))
}

/** The same for a libSQL server; each call has a deadline of its own. */
export function openRemoteWriter(
  location: RemoteLocation,
  { onFailure = () => undefined, onDisk = () => undefined, afterWrite }: RemoteWriterOptions,
): Writer {
  const target = { kind: 'remote', location, deadlineMs: requestDeadlineMs } as const
  return toWriter(new WriterThread(target, { onFailure, onDisk, afterWrite }))
}

function toWriter(thread: WriterThread): Writer {
  const client = new ThreadClient(thread, false)
  const freeing = new ThreadClient(thread, true)
  return {
    db: drizzle(client),
    freeing: drizzle(freeing),
    client,
    isUp: () => thread.isUp,
    keepReserve: () => thread.keepReserve(),
    emptyLog: async (holdUpMs) => (await thread.send({ method: 'emptyLog', holdUpMs }, true)) === true,
    close: () => thread.close(),
  }
}

interface WriterThreadOptions {
  onFailure: (error: Error) => void
  onDisk: (problem: Error | null) => void
  /** Null for a file of our own. */
  afterWrite: (() => Promise<void>) | null
}

/** Calls to the writer's thread; on a file they run one after the other in the order they were made. */
class WriterThread {
  readonly #options: WriterThreadOptions
  readonly #thread: Thread<WriterSession, WriterTarget>
  #charsQueued = 0
  #keepsReserve = false
  #isRefused = false

  constructor(target: WriterTarget, options: WriterThreadOptions) {
    this.#options = options
    this.#thread = new Thread({
      script: new URL('./writer-worker.ts', import.meta.url),
      name: 'The writer',
      data: () => target,
      waitingMax: writesQueuedMax,
      onClose: 'finish',
      closeWithinMs,
      onFailure: options.onFailure,
      onRestart: () => {
        if (this.#keepsReserve) this.keepReserve().catch(options.onFailure)
      },
    })
  }

  get isUp(): boolean {
    return this.#thread.isUp
  }

  get isClosed(): boolean {
    return this.#thread.isClosed
  }

  async keepReserve(): Promise<void> {
    this.#keepsReserve = true
    await this.send({ method: 'keepReserve' }, true)
  }

  async send(call: WriterCall, frees: boolean): Promise<WriterValue> {
    if (this.isClosed) throw new LibsqlError('The client is closed', 'CLIENT_CLOSED')
    const chars = largeCharsOf(call)
    // Alone a write is taken whatever it weighs.
    if (chars > 0 && this.#charsQueued > 0 && this.#charsQueued + chars > charsQueuedMax)
      throw busy('Too many large writes are waiting.')
    this.#charsQueued += chars
    const answered = this.#ask(call, frees).finally(() => {
      this.#charsQueued -= chars
    })
    const { afterWrite } = this.#options
    return await (afterWrite ? inTime(call, answered, afterWrite) : answered)
  }

  close(): Promise<void> {
    return this.#thread.close()
  }

  async #ask(call: WriterCall, frees: boolean): Promise<WriterValue> {
    try {
      const value = await this.#thread.ask('run', call, frees)
      if (this.#isRefused && changesRows(call)) this.#noteDisk(null)
      return value
    } catch (error) {
      if (error instanceof AppError) throw error
      const { message, code } = asFailure(error)
      if (meansRefusal(code) && !this.#isRefused) this.#noteDisk(new LibsqlError(message, code))
      throw toError({ message, code })
    }
  }

  /** Told once, not with every write. */
  #noteDisk(problem: Error | null): void {
    this.#isRefused = problem !== null
    this.#options.onDisk(problem)
  }
}

/** `@libsql/client`'s interface over calls to the worker, so that Drizzle and its migrations use it unchanged. */
class ThreadClient implements Client {
  readonly protocol = 'file'
  readonly #thread: WriterThread
  readonly #frees: boolean

  constructor(thread: WriterThread, frees: boolean) {
    this.#thread = thread
    this.#frees = frees
  }

  get closed(): boolean {
    return this.#thread.isClosed
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
    void this.#thread.close()
  }

  #send(call: WriterCall): Promise<WriterValue> {
    return this.#thread.send(call, this.#frees)
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

/** The thread keeps message and code of what failed in the worker. */
function asFailure(error: unknown): { message: string; code: string } {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'UNKNOWN'
  return { message: error instanceof Error ? error.message : String(error), code }
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
