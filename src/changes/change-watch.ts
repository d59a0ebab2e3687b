import { setImmediate } from 'node:timers/promises'
import { sql } from 'drizzle-orm'
import { LRUCache } from 'lru-cache'
import type { Core } from '../core/core.ts'
import { preparedQueries } from '../db/store.ts'
import { unavailable } from '../errors.ts'
import { SharedLimit } from '../shared-limit.ts'
import { Background } from '../threads/background.ts'

/** How soon readers that begin to wait, or were held back, are compared with the database. */
const delayMs = 50
const waitingMax = 4_000
/** At most this many readers of a project are woken per second; many readers get several changes at once. */
const wokenPerSecond = 1_000
const heldBackMsMax = 1_000
const projectsMax = 1_000
/** Readers that are woken before other work gets a turn. */
const wokenAtOnce = 32

interface WaitOptions {
  withinMs: number
  /** Ends the wait. */
  signal: AbortSignal
}

interface Waiting {
  /** The last change that the reader has seen. */
  seq: number
  end(hasChanged: boolean): void
}

const queries = preparedQueries((db) => ({
  newest: db
    .select({ projectId: sql<number>`projects.id`, changeSeq: sql<number>`change_seq` })
    .from(sql`json_each(${sql.placeholder('projectIds')}) cross join projects on projects.id = value`)
    .where(sql`deleted_at is null`)
    .prepare(),
}))

/**
 * Wakes readers that wait for a change of a project, whichever process makes it. One query serves all of them, and there
 * is none while nobody waits.
 */
export class ChangeWatch {
  readonly #core: Core
  readonly #waiting = new Map<number, Set<Waiting>>()
  readonly #waking: Background
  readonly #readers = new SharedLimit({ max: waitingMax })
  /** Projects whose readers were woken just now. */
  readonly #wokenLately = new LRUCache<number, true>({ max: projectsMax })
  /** Whether readers still have to be woken. */
  #hasHeldBack = false

  constructor(core: Core) {
    this.#core = core
    const { database, log } = core
    this.#waking = new Background({
      work: async () => {
        if (this.count > 0) await this.#wake(await this.#readNewest())
        return this.#hasHeldBack ? delayMs : null
      },
      delayMs,
      onFailure: (error) => log.error({ error }, 'Watching for changes failed and will be tried again'),
    })
    database.onCommit(() => {
      if (this.count > 0) this.#waking.soon(0)
    })
  }

  /** How many readers wait. */
  get count(): number {
    return this.#readers.total
  }

  get isClosed(): boolean {
    return this.#waking.isClosed
  }

  /** @throws unavailable when no more readers of the project can wait */
  checkRoom(projectId: number): void {
    if (this.#readers.hasRoom(projectId)) return
    throw unavailable('Too many readers are waiting for changes.', 5)
  }

  /**
   * Resolves to true when the project has a change after `seq` or is deleted; to false when the time is over, the
   * signal is aborted or the watch is closed.
   * @throws unavailable if no more readers of the project can wait
   */
  async wait(projectId: number, seq: number, { withinMs, signal }: WaitOptions): Promise<boolean> {
    if (this.isClosed || signal.aborted) return false
    this.checkRoom(projectId)
    return await new Promise((resolve) => {
      const stop = () => waiter.end(false)
      const timer = setTimeout(stop, withinMs)
      const waiter: Waiting = {
        seq,
        end: (hasChanged) => {
          clearTimeout(timer)
          signal.removeEventListener('abort', stop)
          this.#remove(projectId, waiter)
          resolve(hasChanged)
        },
      }
      signal.addEventListener('abort', stop)
      this.#add(projectId, waiter)
    })
  }

  /** Ends every wait. */
  async close(): Promise<void> {
    const closing = this.#waking.close()
    for (const waiter of [...this.#waiting.values()].flatMap((some) => [...some])) waiter.end(false)
    await closing
  }

  #add(projectId: number, waiter: Waiting): void {
    const others = this.#waiting.get(projectId) ?? new Set()
    this.#waiting.set(projectId, others.add(waiter))
    this.#readers.add(projectId)
    this.#waking.soon()
  }

  #remove(projectId: number, waiter: Waiting): void {
    const others = this.#waiting.get(projectId)
    if (!others?.delete(waiter)) return
    this.#readers.add(projectId, -1)
    if (others.size === 0) this.#waiting.delete(projectId)
  }

  async #readNewest(): Promise<Map<number, number>> {
    const projectIds = JSON.stringify([...this.#waiting.keys()])
    const rows = await queries(this.#core.database.read).newest.all({ projectIds })
    return new Map(rows.map(({ projectId, changeSeq }) => [projectId, changeSeq]))
  }

  /** @param newest the last change of each existing project */
  async #wake(newest: ReadonlyMap<number, number>): Promise<void> {
    this.#hasHeldBack = false
    const woken = [...this.#waiting].flatMap(([projectId, some]) => {
      const behind = [...some].filter(({ seq }) => (newest.get(projectId) ?? Number.POSITIVE_INFINITY) > seq)
      return this.#holdsBack(projectId, behind.length) ? [] : behind
    })
    for (const [at, waiter] of woken.entries()) {
      waiter.end(true)
      if (at % wokenAtOnce === wokenAtOnce - 1) await setImmediate()
    }
  }

  /** Whether to wake these readers later, because readers of the project were just woken. */
  #holdsBack(projectId: number, readers: number): boolean {
    if (readers === 0) return false
    const isHeldBack = this.#wokenLately.has(projectId)
    const ttl = Math.min(heldBackMsMax, Math.ceil((readers / wokenPerSecond) * 1_000))
    if (isHeldBack) this.#hasHeldBack = true
    else this.#wokenLately.set(projectId, true, { ttl })
    return isHeldBack
  }
}
