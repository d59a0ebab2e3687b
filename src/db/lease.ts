import { randomUUID } from 'node:crypto'
import { sql } from 'drizzle-orm'
import { meta } from './schema.ts'
import type { WriteDatabase } from './writer.ts'

const leaseMs = 30_000
const renewedAfterMs = 10_000

/** Work that one of the nodes of a database does at a time: whoever holds the lease, by the server's clock. */
export class Lease {
  readonly #write: WriteDatabase
  readonly #name: string
  readonly #holder = randomUUID()
  #takenAt = Number.NEGATIVE_INFINITY
  #isHeld = false

  constructor(write: WriteDatabase, name: string) {
    this.#write = write
    this.#name = `lease_${name}`
  }

  /** Takes or renews the lease. Returns whether this node holds it. Asks the database only every ten seconds. */
  async take(): Promise<boolean> {
    if (performance.now() - this.#takenAt < renewedAfterMs) return this.#isHeld
    const now = sql`(unixepoch('subsec') * 1000)`
    const value = sql`cast(cast(${now} + ${leaseMs} as integer) as text) || ' ' || ${this.#holder}`
    this.#isHeld = false
    const taken = await this.#write.all(sql`
      insert into ${meta} (name, value) values (${this.#name}, ${value})
      on conflict (name) do update set value = excluded.value
      where cast(meta.value as integer) < ${now} or meta.value like ${`% ${this.#holder}`} returning name`)
    this.#takenAt = performance.now()
    this.#isHeld = taken.length > 0
    return this.#isHeld
  }

  /** Lets another node take it at once. */
  async release(): Promise<void> {
    if (!this.#isHeld) return
    this.#isHeld = false
    this.#takenAt = Number.NEGATIVE_INFINITY
    await this.#write.run(sql`
      delete from ${meta} where name = ${this.#name} and value like ${`% ${this.#holder}`}`)
  }
}
