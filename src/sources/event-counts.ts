import { sql } from 'drizzle-orm'
import { sources } from '../db/schema.ts'
import type { WriteDatabase } from '../db/write-database.ts'
import type { Log } from '../observability/log.ts'
import { Background } from '../threads/background.ts'

const delayMs = 1_000
const retryMs = 5_000

interface EventCountsOptions {
  write: WriteDatabase
  log: Pick<Log, 'warn'>
}

interface Count {
  events: number
  /** Milliseconds since 1970. */
  lastAt: number
}

/**
 * Counts events in memory and writes the counts once a second, in one statement, so that an event needs no extra commit.
 * A process that is killed loses the counts of its last second, but no event.
 */
export class EventCounts {
  readonly #options: EventCountsOptions
  readonly #background: Background
  /** By source. */
  #counts = new Map<string, Count>()

  constructor(options: EventCountsOptions) {
    this.#options = options
    this.#background = new Background({
      work: () => this.#write(),
      delayMs,
      retryMs,
      onFailure: (error) =>
        options.log.warn({ error }, 'The counts of events were not written and will be tried again'),
    })
  }

  add(sourceId: string, now: number): void {
    const { events, lastAt } = this.#counts.get(sourceId) ?? { events: 0, lastAt: 0 }
    this.#counts.set(sourceId, { events: events + 1, lastAt: Math.max(lastAt, now) })
    this.#background.soon()
  }

  /** Writes what has been counted. */
  flush(): Promise<void> {
    return this.#background.now()
  }

  async close(): Promise<void> {
    await this.flush().catch(() => undefined)
    await this.#background.close()
  }

  async #write(): Promise<void> {
    const counts = this.#counts
    if (counts.size === 0) return
    this.#counts = new Map()
    try {
      const byId = JSON.stringify(Object.fromEntries(counts))
      const counted = (name: keyof Count) =>
        sql`(select value ->> ${sql.raw(`'${name}'`)} from json_each(${byId}) where key = sources.id)`
      await this.#options.write.run(sql`
        update ${sources} set events = events + ${counted('events')},
          last_event_at = max(coalesce(last_event_at, 0), ${counted('lastAt')})
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
