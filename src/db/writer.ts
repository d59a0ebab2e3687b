import type { InStatement, ResultSet } from '@libsql/client'
import { LibsqlError } from '@libsql/core/api'
import { AppError, type AppErrorOptions, ProjectWasDeleted } from '../errors.ts'
import { Thread } from '../threads/thread.ts'
import { lacksProject } from './constraint.ts'
import { troubleOf } from './damage.ts'
import { DiskWatch } from './disk-watch.ts'
import { type DatabaseLog, silentLog } from './log.ts'
import { primaryUnavailable, unservedDetail } from './remote-failure.ts'
import { type WriteClient, WriteDatabase } from './write-database.ts'
import {
  fromPlainResult,
  meansLock,
  type PlainResult,
  toDiskTrouble,
  type WriterCall,
  type WriterEvent,
  type WriterSession,
  type WriterTarget,
  type WriterValue,
} from './writer-messages.ts'

const closeWithinMs = 60_000
/** A write through a server that takes longer is answered 503: within three seconds of the request. */
const deadlineMs = 2_800
/** Statements that change nothing. */
const readingPattern = /^\s*(select|pragma)\b/i
/** Calls that change no row. */
const unseenMethods = new Set<WriterCall['method']>(['emptyLog', 'gaps', 'endSweep', 'keepBallast'])
/** Writes waiting or running. Beyond this limit a write is refused at once, so that memory stays bounded. */
const writesQueuedMax = 2_000
/** Characters of large writes waiting or running. Small ones are limited by their number. */
const charsQueuedMax = 67_108_864
const smallWriteCharsMax = 65_536
/** A disk that refuses writes needs an operator. */
const refusedRetrySeconds = 5
const writeUnanswered =
  'The primary database did not answer in time. The write is either complete or absent, and may still arrive.'
const unknownOutcome = ' This write may or may not have been stored.'
const writeUnreached = 'The primary database cannot be reached. Nothing was written.'

export interface WriterOptions {
  log?: DatabaseLog
  /** Every write waits for it: see soundness.ts. */
  untilSound?: Promise<unknown> | undefined
  /** Awaited before a write is acknowledged. In replica mode it makes the write visible to this process's readers. */
  afterWrite?: () => Promise<void>
  /** Why nothing may be written, in a sentence; null when it may. */
  refusedBecause?: (() => string | null) | undefined
}

/**
 * Sends writes to a worker that owns the only connection that writes to the database. On a file they run one after
 * another, in the order of the calls. On a server each call has its own deadline.
 */
export class Writer {
  readonly client: WriteClient
  /** Its statements run in the worker. */
  readonly db: WriteDatabase
  /** For writes that free space, which run even on a full disk: see ballast-file.ts. */
  readonly writeWhenFull: WriteDatabase
  readonly disk: DiskWatch
  readonly #isRemote: boolean
  readonly #afterWrite: (() => Promise<void>) | undefined
  readonly #refusedBecause: () => string | null
  readonly #thread: Thread<WriterSession, WriterTarget, WriterEvent>
  #isSwept = true
  #onUnswept = () => {}
  #onWritten = () => {}
  #untilSound: Promise<unknown> | undefined
  /** Writes that wait until the file is found sound. */
  #writesWaiting = 0
  #charsQueued = 0
  #ballastBytes = 0

  constructor(
    target: WriterTarget,
    { log = silentLog, untilSound, afterWrite, refusedBecause = () => null }: WriterOptions = {},
  ) {
    this.#isRemote = target.kind === 'remote'
    this.#afterWrite = afterWrite
    this.#refusedBecause = refusedBecause
    this.#untilSound = untilSound
    const onFailure = (error: unknown) => log.error({ error }, 'The writer failed and is being restarted')
    this.#thread = new Thread({
      script: new URL('./writer-worker.ts', import.meta.url),
      name: 'The writer',
      data: () => target,
      waitingMax: writesQueuedMax,
      onClose: 'finish',
      closeWithinMs,
      onFailure,
      onEvent: ({ isSwept }) => {
        this.#isSwept = isSwept
        if (!isSwept) this.#onUnswept()
      },
      onRestart: () => {
        if (this.#ballastBytes > 0) this.keepBallast(this.#ballastBytes).catch(onFailure)
      },
    })
    this.disk = new DiskWatch({
      // A server's disk is the server's concern.
      tryDisk: async () =>
        this.#isRemote ||
        (this.#refusedBecause() === null &&
          (await this.#thread.ask('run', { method: 'tryDisk' }, false)) === true),
      log,
    })
    this.client = this.#clientFor(false)
    this.db = new WriteDatabase(this.client)
    this.writeWhenFull = new WriteDatabase(this.#clientFor(true))
  }

  /** Why no write is possible, in a sentence; null when writes are. */
  refusesBecause(): string | null {
    return this.#thread.isUp ? (this.#refusedBecause() ?? this.disk.refusal) : 'The writer is restarting.'
  }

  /** Whether the database file is free of stale cells, as far as this process has looked: see checkpoints.ts. */
  get isSwept(): boolean {
    return this.#isSwept
  }

  /** Calls `listener` each time that the file has to be swept. */
  onUnswept(listener: () => void): void {
    this.#onUnswept = listener
  }

  /** Calls `listener` after each write of this process. */
  onWritten(listener: () => void): void {
    this.#onWritten = listener
  }

  /** The answer to a query that failed because of the disk or damage, which is noted; null for any other failure. */
  answerTo(error: unknown): AppError | null {
    const fault = troubleOf(error)
    if (!fault) return null
    this.disk.note(fault.trouble, fault.cause)
    const detail =
      fault.trouble === 'damaged' ? 'The database is damaged.' : 'The disk does not let the database be read.'
    return unavailable(detail, { retryAfterSeconds: refusedRetrySeconds, cause: error })
  }

  /** Keeps the ballast file; for the process that owns the folder. */
  async keepBallast(bytes: number): Promise<void> {
    this.#ballastBytes = bytes
    await this.#send({ method: 'keepBallast', bytes }, true)
  }

  /** See stale-cells.ts. */
  async clearStalePages(pages: number[]): Promise<void> {
    await this.#send({ method: 'clearStalePages', pages }, true)
  }

  /**
   * Tries to empty the write-ahead log, delaying other writes by about `holdUpMs`.
   * @returns whether it is empty and the database file is swept: a reader in the middle of a query prevents it
   */
  async emptyLog(holdUpMs: number): Promise<boolean> {
    return (await this.#send({ method: 'emptyLog', holdUpMs }, true)) === true
  }

  /** See checkpoints.ts. */
  async gaps(): Promise<number | null> {
    const gaps = await this.#send({ method: 'gaps' }, true)
    return typeof gaps === 'number' ? gaps : null
  }

  /** See checkpoints.ts. */
  async endSweep(gaps: number): Promise<boolean> {
    return (await this.#send({ method: 'endSweep', gaps }, true)) === true
  }

  /** Finishes the queued writes, closes the connection and ends the worker. */
  async close(): Promise<void> {
    // It may be asking the worker.
    const closing = this.disk.close()
    await this.#thread.close()
    await closing
  }

  /** What Drizzle and its migrator call of `@libsql/client`, over calls to the worker. */
  #clientFor(frees: boolean): WriteClient {
    const send = (call: WriterCall) => this.#send(call, frees)
    const all = async (call: WriterCall) => ((await send(call)) as PlainResult[]).map(fromPlainResult)
    return {
      async execute(statement: InStatement): Promise<ResultSet> {
        return fromPlainResult((await send({ method: 'execute', statement })) as PlainResult)
      },
      // Always one `BEGIN IMMEDIATE` transaction: a deferred one fails if another process writes in between.
      batch: (statements) => all({ method: 'batch', statements }),
      migrate: (statements) => all({ method: 'migrate', statements }),
    }
  }

  async #send(call: WriterCall, frees: boolean): Promise<WriterValue> {
    if (this.#thread.isClosed) throw new LibsqlError('The client is closed', 'CLIENT_CLOSED')
    this.#throwIfRefused()
    const chars = largeCharsOf(call)
    // A write that is alone is accepted whatever its size.
    if (chars > 0 && this.#charsQueued > 0 && this.#charsQueued + chars > charsQueuedMax)
      throw unavailable('Too many large writes are waiting.')
    this.#charsQueued += chars
    const answer = this.#ask(call, frees).finally(() => {
      this.#charsQueued -= chars
    })
    // No client waits for a migration.
    const isUrgent = this.#isRemote && call.method !== 'migrate'
    return await (isUrgent ? withinTime(deadlineMs, answer) : answer)
  }

  async #ask(call: WriterCall, frees: boolean): Promise<WriterValue> {
    // The ballast file is no part of the database.
    if (this.#untilSound && call.method !== 'keepBallast') await this.#hold(this.#untilSound)
    let value: WriterValue
    try {
      value = await this.#thread.ask('run', call, frees)
      if (changesRows(call)) this.#throwIfRefused(unknownOutcome)
    } catch (error) {
      if (error instanceof AppError) throw error
      this.#throwIfRefused(unknownOutcome)
      const failure = toLibsqlError(error)
      const trouble = toDiskTrouble(failure.code)
      if (trouble) this.disk.noteRefused(trouble, { frees, error: failure })
      const answer = toError(failure)
      // The caller will look in the replica for the row that another node wrote. Any other failure that is not ours to
      // explain may show that the primary is another one.
      if (!(answer instanceof AppError)) await this.#syncReplica()
      throw answer
    }
    if (changesRows(call)) {
      this.disk.noteWritten(frees)
      await this.#syncReplica()
      this.#onWritten()
    }
    return value
  }

  async #syncReplica(): Promise<void> {
    await this.#afterWrite?.().catch((error) => {
      this.#throwIfRefused()
      throw error
    })
  }

  #throwIfRefused(outcome = ''): void {
    const reason = this.#refusedBecause()
    if (reason !== null) throw primaryUnavailable(reason + outcome, { isLogged: true })
  }

  async #hold(untilSound: Promise<unknown>): Promise<void> {
    if (this.#writesWaiting >= writesQueuedMax)
      throw unavailable('The database is being checked. Nothing was written.')
    this.#writesWaiting++
    try {
      await untilSound
      this.#untilSound = undefined
    } catch (error) {
      this.disk.note('damaged', error instanceof Error ? error : new Error(String(error)))
      throw unavailable('The database is damaged. Nothing was written.', {
        retryAfterSeconds: refusedRetrySeconds,
        cause: error,
      })
    } finally {
      this.#writesWaiting--
    }
  }
}

function changesRows(call: WriterCall): boolean {
  if (unseenMethods.has(call.method)) return false
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
    const timer = setTimeout(() => reject(primaryUnavailable(writeUnanswered)), timeoutMs)
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
  const trouble = toDiskTrouble(code)
  if (trouble === 'full') {
    const detail = 'The disk that holds the database is full. Nothing was written.'
    return new AppError('insufficient_storage', 'Insufficient storage', { detail, isLogged: true, cause })
  }
  if (trouble) {
    const what =
      trouble === 'damaged' ? 'The database is damaged.' : 'The disk refuses writes to the database.'
    const detail = `${what} This write may or may not have been stored.`
    return unavailable(detail, { retryAfterSeconds: refusedRetrySeconds, isLogged: true, cause })
  }
  const unserved = unservedDetail(cause, { away: writeUnanswered, unreached: writeUnreached })
  if (unserved) return primaryUnavailable(unserved, { cause })
  if (meansLock(code)) return unavailable('Another process holds the database. Nothing was written.')
  // Another node has deleted the project, and this one has not synced since.
  if (lacksProject(message)) return new ProjectWasDeleted(cause)
  // A server takes some 4 MB in a column, a file whatever CALL_MAX_BYTES allows.
  if (message.includes('string or blob too big')) {
    const detail = 'The database server does not take a record as large as this. Nothing was written.'
    return new AppError('payload_too_large', 'Payload too large', { detail, cause })
  }
  return cause
}

function unavailable(detail: string, options: AppErrorOptions = {}): AppError {
  return new AppError('unavailable', 'Service unavailable', { detail, retryAfterSeconds: 1, ...options })
}
