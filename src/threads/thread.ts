import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { AppError } from '../errors.ts'

const restartDelayMsMin = 100
const restartDelayMsMax = 30_000
const closeWithinMsDefault = 2_000

/** What a worker offers: methods whose arguments and results can be structured clones. */
export type Methods<Api> = { [Name in keyof Api]: (...args: never[]) => unknown }

type Args<Api extends Methods<Api>, Name extends keyof Api> = Parameters<Api[Name]>
type Result<Api extends Methods<Api>, Name extends keyof Api> = Awaited<ReturnType<Api[Name]>>

/** What a worker is started with. */
export interface ThreadData<Data> {
  data: Data
  /** One shared number: 1 tells the worker to skip the requests that it has not begun. */
  isDropping: Int32Array
}

export interface ThreadRequest {
  id: number
  /** A method of the worker's interface; null asks the worker to close. */
  method: string | null
  args: unknown[]
}

export type ThreadReply =
  | { kind: 'value'; id: number; value: unknown }
  | { kind: 'error'; id: number; message: string; code: string | undefined }
  | { kind: 'event'; event: unknown }

interface ThreadOptions<Data, Event> {
  /**
   * The worker's file as `new URL('./…-worker.ts', import.meta.url)`, literally, because the builds search for this
   * form.
   */
  script: URL
  /** The subject of error messages, such as "The writer". */
  name: string
  /** What the worker is started with, asked for at each start. */
  data: () => Data
  /** After this long without a request the worker ends, which frees its memory. The next request starts another. */
  idleMs?: number
  /** Requests that may wait at once; a further one is refused. */
  waitingMax?: number
  /** On close: answer the requests that wait (`finish`), or reject them (`drop`, the default). */
  onClose?: 'finish' | 'drop'
  /** How long `close` waits for the worker to end. A slower worker ends with the process. */
  closeWithinMs?: number
  /** Called when the worker has ended unexpectedly. */
  onFailure?: (error: Error, restartDelayMs: number) => void
  /** Called once a worker that failed can be used again. Without it the next request starts the worker. */
  onRestart?: () => void
  /** Called with what the worker reports of its own accord. */
  onEvent?: (event: Event) => void
}

interface Waiting {
  resolve(value: unknown): void
  reject(error: Error): void
}

/**
 * A worker thread as an object with asynchronous methods. The first request starts the worker. When the worker fails,
 * waiting requests are rejected, and it can start again after a delay that doubles while it keeps failing.
 */
export class Thread<Api extends Methods<Api>, Data = undefined, Event = never> {
  readonly #options: ThreadOptions<Data, Event>
  readonly #waiting = new Map<number, Waiting>()
  readonly #isDropping = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))
  #worker: Worker | null = null
  #restartTimer: ReturnType<typeof setTimeout> | undefined
  #idleTimer: ReturnType<typeof setTimeout> | undefined
  #restartDelayMs = restartDelayMsMin
  #lastId = 0
  #closing: Promise<void> | null = null

  constructor(options: ThreadOptions<Data, Event>) {
    this.#options = options
  }

  /** False from a failure until the worker may start again. */
  get isUp(): boolean {
    return this.#restartTimer === undefined
  }

  get isClosed(): boolean {
    return this.#closing !== null
  }

  /** @throws unavailable while the worker cannot take the request, and when it ends before it answers */
  async ask<Name extends keyof Api & string>(
    method: Name,
    ...args: Args<Api, Name>
  ): Promise<Result<Api, Name>> {
    const { name, waitingMax = Number.POSITIVE_INFINITY } = this.#options
    if (this.isClosed) throw closedError(name)
    if (!this.isUp) throw unavailable(`${name} is restarting. Nothing was done.`)
    if (this.#waiting.size >= waitingMax) throw unavailable(`${name} has too many requests waiting.`)
    this.#worker ??= this.#start()
    // The worker answers with the method's result: see serve.ts.
    return (await this.#post(this.#worker, method, args)) as Result<Api, Name>
  }

  /**
   * Ends the worker at once, whatever it does: requests that wait get this error, and the next one starts another. Only
   * for a worker that runs no native code: ending it within a native call would take the process down.
   */
  terminate(error: Error): void {
    const worker = this.#worker
    this.#worker = null
    this.#rejectAll(error)
    void worker?.terminate()
  }

  /** Asks the worker to end. It is not terminated, since it may be within a native call. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    clearTimeout(this.#restartTimer)
    clearTimeout(this.#idleTimer)
    const { name, onClose = 'drop', closeWithinMs = closeWithinMsDefault } = this.#options
    if (onClose === 'drop') {
      Atomics.store(this.#isDropping, 0, 1)
      this.#rejectAll(closedError(name))
    }
    const worker = this.#worker
    if (!worker) return
    const ended = new Promise((resolve) => worker.once('exit', resolve))
    askToEnd(worker)
    await Promise.race([ended, sleep(closeWithinMs, undefined, { ref: false })])
    worker.unref()
  }

  #start(): Worker {
    const workerData: ThreadData<Data> = { data: this.#options.data(), isDropping: this.#isDropping }
    const worker = new Worker(this.#options.script, { workerData })
    worker.on('message', (reply: ThreadReply) => this.#receive(reply))
    worker.on('error', (error) => this.#fail(worker, error))
    worker.on('exit', () => this.#fail(worker, new Error(`${this.#options.name} has ended`)))
    return worker
  }

  #post(worker: Worker, method: string, args: unknown[]): Promise<unknown> {
    const id = ++this.#lastId
    return new Promise((resolve, reject) => {
      // Posted first: it fails for arguments that cannot be cloned, and such a request must not wait.
      worker.postMessage({ id, method, args } satisfies ThreadRequest)
      this.#waiting.set(id, { resolve, reject })
    })
  }

  #receive(reply: ThreadReply): void {
    if (reply.kind === 'event') {
      // The worker sends only events of its interface.
      this.#options.onEvent?.(reply.event as Event)
      return
    }
    this.#restartDelayMs = restartDelayMsMin
    const waiter = this.#waiting.get(reply.id)
    this.#waiting.delete(reply.id)
    if (reply.kind === 'value') waiter?.resolve(reply.value)
    else waiter?.reject(Object.assign(new Error(reply.message), { code: reply.code }))
    if (this.#waiting.size === 0) this.#endWhenIdle()
  }

  #endWhenIdle(): void {
    const { idleMs } = this.#options
    if (idleMs === undefined || this.isClosed) return
    clearTimeout(this.#idleTimer)
    this.#idleTimer = setTimeout(() => {
      if (this.#waiting.size > 0 || !this.#worker) return
      askToEnd(this.#worker)
      this.#worker = null
    }, idleMs)
    this.#idleTimer.unref()
  }

  #fail(worker: Worker, error: Error): void {
    if (this.#worker !== worker) return
    this.#worker = null
    this.#rejectAll(
      unavailable(`${this.#options.name} has failed. Its current work may or may not be done.`, error),
    )
    if (this.isClosed) return
    const delayMs = this.#restartDelayMs
    this.#restartDelayMs = Math.min(delayMs * 2, restartDelayMsMax)
    this.#restartTimer = setTimeout(() => {
      this.#restartTimer = undefined
      this.#options.onRestart?.()
    }, delayMs)
    this.#options.onFailure?.(error, delayMs)
  }

  #rejectAll(error: Error): void {
    for (const { reject } of this.#waiting.values()) reject(error)
    this.#waiting.clear()
  }
}

function askToEnd(worker: Worker): void {
  worker.postMessage({ id: 0, method: null, args: [] } satisfies ThreadRequest)
}

function closedError(name: string): Error {
  return new Error(`${name} is closed`)
}

function unavailable(detail: string, cause?: unknown): AppError {
  return new AppError('unavailable', 'Service unavailable', { detail, cause, retryAfterSeconds: 1 })
}
