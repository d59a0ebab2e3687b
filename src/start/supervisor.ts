import { type ChildProcess, fork } from 'node:child_process'
import type { Log } from '../observability/log.ts'

const restartDelayMsMin = 100
const restartDelayMsMax = 5_000
/** A worker that ran this long is restarted without backoff. */
const soundAfterMs = 10_000
const stopWithinMs = 12_000

interface SupervisorOptions {
  /** The program that each worker runs. */
  program: string
  workers: number
  env: Record<string, string | undefined>
  log: Log
}

/** The message that a worker sends when it listens. */
export interface WorkerListens {
  port: number
}

/** The environment variable with a worker's number. The first worker prints the banner. */
export const workerVariable = 'CALLBOOK_WORKER'

/**
 * Runs several processes of the service on one port and one folder. The first starts alone, since it may have to create
 * the database and pick a port. A worker that dies is restarted.
 */
export class Supervisor {
  readonly #options: SupervisorOptions
  readonly #children = new Map<number, ChildProcess>()
  #port: number | null = null
  #isStopping = false

  constructor(options: SupervisorOptions) {
    this.#options = options
  }

  /** Starts the workers. Resolves to the exit code of the first if it could not start, else to null. */
  async start(): Promise<number | null> {
    const first = this.#spawn(0)
    const code = await new Promise<number | null>((resolve) => {
      first.once('message', ({ port }: WorkerListens) => {
        this.#port = port
        resolve(null)
      })
      first.once('exit', (exitCode) => resolve(exitCode ?? 1))
    })
    if (this.#isStopping) return null
    if (code !== null) return code
    this.#watch(0, first)
    for (let worker = 1; worker < this.#options.workers; worker++) this.#watch(worker, this.#spawn(worker))
    return null
  }

  /** Resolves when every worker has closed. */
  async stop(): Promise<void> {
    this.#isStopping = true
    const ends = [...this.#children.values()].map((child) => {
      if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve()
      const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
      child.kill('SIGTERM')
      setTimeout(() => child.kill('SIGKILL'), stopWithinMs).unref()
      return ended
    })
    await Promise.all(ends)
  }

  /** Kills every worker. */
  kill(): void {
    for (const child of this.#children.values()) child.kill('SIGKILL')
  }

  #spawn(worker: number): ChildProcess {
    const { program, env } = this.#options
    const port = this.#port === null ? {} : { PORT: String(this.#port) }
    const child = fork(program, [], { env: { ...env, ...port, [workerVariable]: String(worker) } })
    this.#children.set(worker, child)
    return child
  }

  #watch(worker: number, child: ChildProcess, delayMs = restartDelayMsMin): void {
    const startedAt = performance.now()
    child.once('exit', (code, signal) => {
      if (this.#isStopping) return
      const isSound = performance.now() - startedAt > soundAfterMs
      const restartMs = isSound ? restartDelayMsMin : delayMs
      this.#options.log.error(
        { worker, pid: child.pid, code, signal, restartMs },
        'A worker ended and is being restarted',
      )
      setTimeout(() => {
        if (this.#isStopping) return
        this.#watch(worker, this.#spawn(worker), Math.min(restartMs * 2, restartDelayMsMax))
      }, restartMs)
    })
  }
}
