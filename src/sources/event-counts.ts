import { sql } from 'drizzle-orm'
import type { Core } from '../core/core.ts'
import type { Job } from '../core/jobs.ts'
import { sources } from '../db/schema.ts'

const delayMs = 1_000
const retryMs = 5_000

interface Count {
  events: number
  lastAt: number
}

/**
 * Counts events in memory and writes the counts once a second, in one statement, so that an event needs no extra commit.
 * A process that is killed loses the counts of its last second, but no event.
 */
export class EventCounts {
  readonly #core: Core
  readonly #job: Job
  #counts = new Map<string, Count>()

  constructor(core: Core) {
    this.#core = core
    this.#job = core.jobs.add({
      name: 'event counts',
      run: () => this.#write(),
      delayMs,
      retryMs,
      inEveryProcess: true,
      atEnd: () => this.#write(),
      failure: 'The counts of events were not written',
      level: 'warn',
    })
  }

  add(sourceId: string, now: number): void {
    const { events, lastAt } = this.#counts.get(sourceId) ?? { events: 0, lastAt: 0 }
    this.#counts.set(sourceId, { events: events + 1, lastAt: Math.max(lastAt, now) })
    this.#job.soon()
  }

  /** Writes what has been counted. */
  flush(): Promise<void> {
    return this.#job.now()
  }

  async #write(): Promise<void> {
    const counts = this.#counts
    if (counts.size === 0) return
    this.#counts = new Map()
    try {
      const byId = JSON.stringify(Object.fromEntries(counts))
      const countOf = (name: keyof Count) =>
        sql`(select value ->> ${sql.raw(`'${name}'`)} from json_each(${byId}) where key = sources.id)`
      await this.#core.write.run(sql`
        update ${sources} set events = events + ${countOf('events')},
          last_event_at = max(coalesce(last_event_at, 0), ${countOf('lastAt')})
        where id in (select key from json_each(${byId}))`)
    } catch (error) {
      for (const [id, { events, lastAt }] of counts) {
        const since = this.#counts.get(id) ?? { events: 0, lastAt: 0 }
        this.#counts.set(id, { events: since.events + events, lastAt: Math.max(since.lastAt, lastAt) })
      }
      throw error
    }
  }
}
