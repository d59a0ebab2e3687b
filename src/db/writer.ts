import {
  type Client,
  type InArgs,
  type InStatement,
  LibsqlError,
  type Replicated,
  type ResultSet,
} from '@libsql/client'
import { drizzle, type LibSQLDatabase } from 'drizzle-orm/libsql'
import { AppError, type AppErrorOptions, projectWasDeleted } from '../errors.ts'
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
/** A write through a server that takes longer is answered 503: within three seconds of the request. */
const deadlineMs = 2_800
const requestDeadlineMs = 2_500
/** Statements that change nothing. */
const readingPattern = /^\s*(select|pragma)\b/i
/** Writes waiting or running. Beyond this limit a write is refused at once, so that memory stays bounded. */
const writesQueuedMax = 2_000
/** Characters of large writes waiting or running. Small ones are limited by their number. */
const charsQueuedMax = 67_108_864
const smallWriteCharsMax = 65_536
/** A disk that refuses writes needs an operator. */
const refusedRetrySeconds = 5

/** Drizzle whose statements run in the writer's worker. Write with `batch`, which is one transaction. */
export type WriteDatabase = LibSQLDatabase

export interface Writer {
  readonly db: WriteDatabase
  /** For writes that free space, which run even on a full disk: see ballast-file.ts. */
  readonly freeing: WriteDatabase
  readonly client: Client
  /** False while the worker restarts after a failure. */
  isUp(): boolean
  /** Keeps the ballast file; for the process that owns the folder. */
  keepBallast(): Promise<void>
  /** See stale-cells.ts. */
  clearStalePages(pages: number[]): Promise<void>
  /**
   * Tries to empty the write-ahead log, delaying other writes by at most `holdUpMs`.
   * @returns whether it is empty: a reader in the middle of a query prevents it
   */
  emptyLog(holdUpMs: number): Promise<boolean>
  /** Finishes the queued writes, closes the connection and ends the worker. */
  close(): Promise<void>
}

export interface WriterOptions {
  /** Called when the worker fails. It is started again. */
  onFailure?: (error: Error) => void
  /** Called when the disk starts to refuse writes, and with null when it accepts them again. */
  onDisk?: (problem: Error | null) => void
}

interface RemoteWriterOptions extends WriterOptions {
  /** Awaited before a write is acknowledged: makes it visible to this process's readers. */
  afterWrite: () => Promise<void>
}

/** Starts the worker that owns the only connection that writes to the database at `url` (`file:…`). */
export function openWriter(
  url: string,
  { onFailure = () => undefined, onDisk = () => undefined }: WriterOptions = {},
): Writer {
  return toWriter(new WriterThread({ kind: 'file', url }, { onFailure, onDisk, afterWrite: null }))
}

/** The same for a libSQL server. Each call has its own deadline. */
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
    keepBallast: () => thread.keepBallast(),
    clearStalePages: async (pages) => {
      await thread.send({ method: 'clearStalePages', pages }, true)
    },
    emptyLog: async (holdUpMs) => (await thread.send({ method: 'emptyLog', holdUpMs }, true)) === true,
    close: () => thread.close(),
  }
}

interface WriterThreadOptions {
  onFailure: (error: Error) => void
  onDisk: (problem: Error | null) => void
  /** Null for a local file. */
  afterWrite: (() => Promise<void>) | null
}

/** Calls to the writer's thread. On a file they run one after another, in the order of the calls. */
class WriterThread {
  readonly #options: WriterThreadOptions
  readonly #thread: Thread<WriterSession, WriterTarget>
  #charsQueued = 0
  #keepsBallast = false
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
        if (this.#keepsBallast) this.keepBallast().catch(options.onFailure)
      },
    })
  }

  get isUp(): boolean {
    return this.#thread.isUp
  }

  get isClosed(): boolean {
    return this.#thread.isClosed
  }

  async keepBallast(): Promise<void> {
    this.#keepsBallast = true
    await this.send({ method: 'keepBallast' }, true)
  }

  async send(call: WriterCall, frees: boolean): Promise<WriterValue> {
    if (this.isClosed) throw new LibsqlError('The client is closed', 'CLIENT_CLOSED')
    const chars = largeCharsOf(call)
    // A write that is alone is accepted whatever its size.
    if (chars > 0 && this.#charsQueued > 0 && this.#charsQueued + chars > charsQueuedMax)
      throw unavailable('Too many large writes are waiting.')
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
      const failure = toLibsqlError(error)
      if (meansRefusal(failure.code) && !this.#isRefused) this.#noteDisk(failure)
      throw toError(failure)
    }
  }

  /** Reports a change once, not at every write. */
  #noteDisk(problem: Error | null): void {
    this.#isRefused = problem !== null
    this.#options.onDisk(problem)
  }
}

/** `@libsql/client`'s interface over calls to the worker, which Drizzle and its migrator use unchanged. */
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

  /** Always one `BEGIN IMMEDIATE` transaction: a deferred one fails if another process writes in between. */
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
    throw new LibsqlError('Another thread syncs the replica', 'NOT_SUPPORTED')
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

/** Applies the deadline, but not to migrations, for which no client waits. */
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
      // The caller will look here for the row that another node wrote.
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

/** How large a call's values are, in characters and bytes; 0 for a small call. */
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

/** Stops waiting after `timeoutMs`; the work itself goes on. */
function withinTime<Value>(timeoutMs: number, work: Promise<Value>): Promise<Value> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(writeUnanswered()), timeoutMs)
    work.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}

/** An error from the worker has the message and the code of the original. */
function toLibsqlError(error: unknown): LibsqlError {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'UNKNOWN'
  return new LibsqlError(error instanceof Error ? error.message : String(error), code)
}

/** Turns a failure that a client can act on into its answer. Any other is an internal error. */
function toError(cause: LibsqlError): Error {
  const { code, message } = cause
  if (code === 'SQLITE_FULL') {
    const detail = 'The disk that holds the database is full; nothing was written.'
    return new AppError('insufficient_storage', 'Insufficient storage', { detail, cause })
  }
  if (meansRefusal(code)) {
    const detail = 'The disk refuses writes to the database; this one may or may not have been stored.'
    return unavailable(detail, { retryAfterSeconds: refusedRetrySeconds, cause })
  }
  if (code === primaryAwayCode) return writeUnanswered(cause)
  if (code === tokenRefusedCode) return tokenRefused(cause)
  if (meansLock(code)) return unavailable('Another process holds the database; nothing was written.')
  // Another node has deleted it, and this one has not synced since.
  if (lacksProject(message)) return projectWasDeleted(cause)
  return cause
}

function unavailable(detail: string, options: AppErrorOptions = {}): AppError {
  return new AppError('unavailable', 'Service unavailable', { detail, retryAfterSeconds: 1, ...options })
}
