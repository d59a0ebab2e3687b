import { setTimeout as sleep } from 'node:timers/promises'
import { AppError } from '../../errors.ts'

const batchesMax = 2

interface Waiting<Input, Result> {
  input: Input
  resolve(result: Result): void
  reject(error: unknown): void
}

interface BatchesOptions<Input, Result> {
  /** Returns a result for each input, in order. */
  run: (inputs: Input[]) => Promise<Result[]>
  /** How much an input counts towards `sizeMax`. */
  sizeOf: (input: Input) => number
  /** A batch takes no further input beyond this size. */
  sizeMax: number
  /** How long the first input waits for others; not at all by default. */
  gatherMs?: number
}

/** Batches of each project. */
export class ProjectBatches<Input, Result> {
  readonly #optionsOf: (projectId: number) => BatchesOptions<Input, Result>
  readonly #batches = new Map<number, Batches<Input, Result>>()

  constructor(optionsOf: (projectId: number) => BatchesOptions<Input, Result>) {
    this.#optionsOf = optionsOf
  }

  add(projectId: number, input: Input): Promise<Result> {
    const batches = this.#batches.get(projectId) ?? new Batches(this.#optionsOf(projectId))
    this.#batches.set(projectId, batches)
    return batches.add(input)
  }
}

/**
 * Runs inputs in batches. The next batch takes what has arrived meanwhile, up to a size. It starts when the previous
 * one has ended, or when as many inputs wait as are running, so that one is prepared while the other is written.
 */
class Batches<Input, Result> {
  readonly #options: BatchesOptions<Input, Result>
  readonly #waiting: Waiting<Input, Result>[] = []
  #batches = 0
  #running = 0

  constructor(options: BatchesOptions<Input, Result>) {
    this.#options = options
  }

  add(input: Input): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ input, resolve, reject })
      if (this.#batches < batchesMax && this.#waiting.length >= this.#running) void this.#work()
    })
  }

  async #work(): Promise<void> {
    this.#batches++
    const { gatherMs = 0 } = this.#options
    if (gatherMs > 0) await sleep(gatherMs)
    for (let batch = this.#take(); batch.length > 0; batch = this.#take()) {
      this.#running += batch.length
      await this.#run(batch).catch((error) => this.#fail(batch, error))
      this.#running -= batch.length
    }
    this.#batches--
  }

  async #run(batch: Waiting<Input, Result>[]): Promise<void> {
    const results = await this.#options.run(batch.map(({ input }) => input))
    for (const [position, { resolve }] of batch.entries()) resolve(results[position] as Result)
  }

  async #fail(batch: Waiting<Input, Result>[], error: unknown): Promise<void> {
    // The database refuses writes, so the waiting inputs would only get the same answer later.
    const failed = error instanceof AppError ? [...batch, ...this.#waiting.splice(0)] : batch
    if (failed.length === 1 || error instanceof AppError) for (const { reject } of failed) reject(error)
    // One input has caused the failure. Each is run alone and gets its own result.
    else for (const one of batch) await this.#run([one]).catch(one.reject)
  }

  #take(): Waiting<Input, Result>[] {
    const { sizeOf, sizeMax } = this.#options
    let size = 0
    const beyond = this.#waiting.findIndex(({ input }) => {
      size += sizeOf(input)
      return size > sizeMax
    })
    return this.#waiting.splice(0, beyond < 0 ? this.#waiting.length : Math.max(1, beyond))
  }
}
