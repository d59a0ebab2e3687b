import { type ChildProcess, fork } from 'node:child_process'
import type { Log } from '../observability/log.ts'

const restartDelayMsMin = 100
const restartDelayMsMax = 5_000
/** A worker that has lived so long starts again without delay. */
const soundAfterMs = 10_000
const stopWithinMs = 12_000

interface SupervisorOptions {
  /** The program that each worker runs. */
  program: string
  workers: number
  env: Record<string, string | undefined>
  log: Log
}

/** What a worker tells when it listens. */
export interface WorkerListens {
  port: number
}

/** Set for a worker: its number. The first is the one that prints what people are to see. */
export const workerVariable = 'CALLBOOK_WORKER'

/**
 * Runs several processes of the service on one port and one folder. The first starts alone, since it may have a
 * database to make and a port to pick; who dies is started again.
 */
export class Supervisor {
  readonly #options: SupervisorOptions
  readonly #children = new Map<number, ChildProcess>()
  #port: number | null = null
  #isStopping = false

  constructor(options: SupervisorOptions) {
    this.#options = options
  }

  /** Resolves when all have started, or were stopped before; with the exit code when the first could not. */
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

  /** Ends every worker without letting it close. */
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
        'A worker ended and is started again',
      )
      setTimeout(() => {
        if (this.#isStopping) return
        this.#watch(worker, this.#spawn(worker), Math.min(restartMs * 2, restartDelayMsMax))
      }, restartMs)
    })
  }
}
