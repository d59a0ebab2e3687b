import { setTimeout as sleep } from 'node:timers/promises'
import type { OpenDatabase } from '../db/open.ts'
import type { Log } from '../observability/log.ts'
import { Background } from '../threads/background.ts'
import type { Lease } from './lease.ts'

/** How long what fails unexpectedly keeps its place, so that it is not begun again at once. */
const holdMs = 30_000
const expireEveryMs = 3_600_000
const expireRetryMs = 60_000

type HeldLease = Pick<Lease, 'take' | 'release'>

interface JobsOptions {
  owner: { readonly isOwner: boolean }
  database: Pick<OpenDatabase, 'onCommit'>
  leaseOf: (name: string) => HeldLease
  log: Pick<Log, 'error' | 'warn'>
}

/** One run of a job. */
export interface Turn {
  readonly signal: AbortSignal
  /**
   * Whether this node is the one that does the work, of several on one database: asked before the first write, and
   * between slices. @throws once the job is aborted
   */
  isMine(): Promise<boolean>
  /** Gives up the lease, so that another node can go on at once. */
  letGo(): Promise<void>
  /** Waits as long as the work since the last rest took, or longer by a factor: the writer's time is left to others. */
  rest(factor?: number): Promise<void>
}

export interface JobOptions {
  /** The name of its lease, which other versions on one database know: never change it. */
  name: string
  /** Resolves to the milliseconds until the next run; otherwise `everyMs` counts. */
  run: (turn: Turn) => Promise<number | null> | Promise<void>
  /** What the log says when it failed. It is tried again. */
  failure: string
  /** How a failure is logged: `warn` for what fails outside of the machine. */
  level?: 'warn' | 'error'
  everyMs?: number
  delayMs?: number
  retryMs?: number
  retryMsMax?: number
  /** How soon after a commit, of any process, it runs. */
  commitMs?: number
  /** Done once before the first run of the folder's owner. */
  prepare?: () => Promise<void>
  /** Done once nothing is running any more, before the database is closed. A failure is of no interest then. */
  atEnd?: () => Promise<void>
  /** What runs in every process starts by itself. By default, only the owner of the folder runs it. */
  inEveryProcess?: boolean
}

/** What a job and all that it began came to since the start. */
export interface JobTotals {
  ended: number
  seconds: number
  failed: number
}

/** Work in the background, by name: one run at a time, and some things under way beside it. */
export class Job<Item = never> {
  readonly #options: JobOptions
  readonly #background: Background
  readonly #isOwner: () => boolean
  readonly #log: JobsOptions['log']
  readonly #aborting = new AbortController()
  readonly #underWay = new Map<Item, Promise<void>>()
  #lease: HeldLease | undefined
  readonly #leaseOf: () => HeldLease
  readonly totals: JobTotals = { ended: 0, seconds: 0, failed: 0 }
  #isPrepared = false

  constructor(options: JobOptions, { owner, leaseOf, log }: JobsOptions) {
    const { name, failure, level = 'error', run, prepare, atEnd, inEveryProcess = false, ...timing } = options
    this.#options = options
    this.#isOwner = () => inEveryProcess || owner.isOwner
    this.#log = log
    this.#leaseOf = () => leaseOf(name)
    this.#background = new Background({
      delayMs: 0,
      ...timing,
      work: (signal) => measure(this, () => this.#run(signal)),
      onFailure: (error) => log[level]({ error }, `${failure} and will be tried again`),
    })
  }

  /** What `begin` has begun and has not ended. */
  get underWay(): Item[] {
    return [...this.#underWay.keys()]
  }

  /** A signal that is aborted with the job. */
  get signal(): AbortSignal {
    return this.#aborting.signal
  }

  /** Asks for a run, in the process that does this work. */
  soon(delayMs?: number): void {
    if (this.#isOwner()) this.#background.soon(delayMs)
  }

  /** A run that starts after this call. @throws its failure */
  now(): Promise<void> {
    return this.#background.now()
  }

  /** Resolves when nothing is running. */
  async idle(): Promise<void> {
    await this.#background.idle()
  }

  /** Does something beside the runs. @param wakes whether its end asks for another run */
  begin(item: Item, work: () => Promise<void>, wakes = true): void {
    const doing = measure(this, work)
      .catch(async (error) => {
        if (this.signal.aborted) return
        this.#log.warn({ error }, `${this.#options.failure} and will be tried again`)
        await sleep(holdMs, null, { signal: this.signal, ref: false }).catch(() => undefined)
      })
      .finally(() => {
        this.#underWay.delete(item)
        if (wakes && !this.signal.aborted) this.soon(0)
      })
    this.#underWay.set(item, doing)
  }

  /** Aborts what is running, waits for its end, and starts nothing more. */
  async close(): Promise<void> {
    this.#aborting.abort(new Error('The work was aborted'))
    await this.#background.close()
    await Promise.all(this.#underWay.values())
    await this.#options.atEnd?.().catch(() => undefined)
    // If the database cannot be reached, the lease expires by itself.
    await this.#lease?.release().catch(() => undefined)
  }

  async #run(signal: AbortSignal): Promise<number | null> {
    const { run, prepare } = this.#options
    if (!this.#isPrepared) await prepare?.()
    this.#isPrepared = true
    let startedAt = performance.now()
    const again = await run({
      signal,
      isMine: async () => {
        signal.throwIfAborted()
        this.#lease ??= this.#leaseOf()
        return await this.#lease.take()
      },
      letGo: async () => await this.#lease?.release(),
      rest: async (factor = 1) => {
        await sleep(factor * (performance.now() - startedAt), null, { signal })
        startedAt = performance.now()
      },
    })
    return again ?? null
  }
}

interface JobOfEachOptions<Key> {
  name: string
  run: (key: Key) => Promise<number | null>
  onFailure: (error: unknown, key: Key) => void
  delayMs?: number
  retryMs?: number
  retryMsMax?: number
}

/** The same work for each of many things, in every process: after a failure, one waits and no other. */
export class JobOfEach<Key> {
  readonly #options: JobOfEachOptions<Key>
  readonly #runs = new Map<Key, Background>()
  readonly #aborting = new AbortController()
  readonly totals: JobTotals = { ended: 0, seconds: 0, failed: 0 }

  constructor(options: JobOfEachOptions<Key>) {
    this.#options = options
  }

  /** A signal that is aborted with the job. */
  get signal(): AbortSignal {
    return this.#aborting.signal
  }

  has(key: Key): boolean {
    return this.#runs.has(key)
  }

  soon(key: Key, delayMs?: number): void {
    if (!this.signal.aborted) this.#runOf(key).soon(delayMs)
  }

  /** A run that starts after this call. @throws its failure */
  async now(key: Key): Promise<void> {
    this.signal.throwIfAborted()
    await this.#runOf(key).now()
  }

  /** Resolves when nothing is running. */
  async idle(): Promise<void> {
    await Promise.all([...this.#runs.values()].map((run) => run.idle()))
  }

  /** Ends the work for one of them and forgets it. */
  end(key: Key): void {
    void this.#runs.get(key)?.close()
    this.#runs.delete(key)
  }

  async close(): Promise<void> {
    this.#aborting.abort(new Error('The work was aborted'))
    await Promise.all([...this.#runs.values()].map((run) => run.close()))
  }

  #runOf(key: Key): Background {
    const { run, onFailure, ...timing } = this.#options
    const existing = this.#runs.get(key)
    if (existing) return existing
    const background = new Background({
      delayMs: 0,
      ...timing,
      work: () => measure(this, () => run(key)),
      onFailure: (error) => onFailure(error, key),
    })
    this.#runs.set(key, background)
    return background
  }
}

/** What is aborted has not failed. */
async function measure<T>(
  { totals, signal }: { totals: JobTotals; signal: AbortSignal },
  work: () => Promise<T>,
): Promise<T> {
  const startedAt = performance.now()
  try {
    return await work()
  } catch (error) {
    if (!signal.aborted) totals.failed++
    throw error
  } finally {
    totals.ended++
    totals.seconds += (performance.now() - startedAt) / 1000
  }
}

/** All work in the background. */
export class Jobs {
  readonly #options: JobsOptions
  readonly #jobs = new Map<string, Pick<Job, 'soon' | 'now' | 'close' | 'totals'>>()
  readonly #ofEach = new Map<string, Pick<Job, 'close' | 'totals'>>()

  constructor(options: JobsOptions) {
    this.#options = options
  }

  /** @throws where another job has the name */
  add<Item = never>(options: JobOptions): Job<Item> {
    this.#refuseKnown(options.name)
    const job = new Job<Item>(options, this.#options)
    this.#jobs.set(options.name, job)
    const { commitMs } = options
    if (commitMs !== undefined) this.#options.database.onCommit(() => job.soon(commitMs))
    return job
  }

  /** @throws where another job has the name */
  addOfEach<Key>(options: JobOfEachOptions<Key>): JobOfEach<Key> {
    this.#refuseKnown(options.name)
    const job = new JobOfEach(options)
    this.#ofEach.set(options.name, job)
    return job
  }

  /** Deletes every hour what is over. */
  addExpiry(of: string, run: () => Promise<void>): void {
    const name = `expiry of ${of}`
    const failure = `Deleting what is over of ${of} failed`
    this.add({ name, run, everyMs: expireEveryMs, retryMs: expireRetryMs, failure })
  }

  /** Returns the totals by name. */
  totals(): [string, Readonly<JobTotals>][] {
    return [...this.#jobs, ...this.#ofEach].map(([name, { totals }]) => [name, totals])
  }

  /** Starts all that the owner of the folder does. */
  start(): void {
    for (const job of this.#jobs.values()) job.soon(0)
  }

  /** A run of a job that starts now. */
  async now(name: string): Promise<void> {
    await this.#jobs.get(name)?.now()
  }

  /** Ends one job for good. */
  async stop(name: string): Promise<void> {
    await this.#jobs.get(name)?.close()
  }

  /** Aborts all at once, since some wait for others. */
  async close(): Promise<void> {
    await Promise.all([...this.#jobs.values(), ...this.#ofEach.values()].map((job) => job.close()))
  }

  #refuseKnown(name: string): void {
    if (this.#jobs.has(name) || this.#ofEach.has(name)) throw new Error(`Two jobs are named ${name}`)
  }
}
