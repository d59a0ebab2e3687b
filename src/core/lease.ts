import { randomUUID } from 'node:crypto'
import { type SQL, sql } from 'drizzle-orm'
import type { ReadDatabase } from '../db/reader.ts'
import { meta } from '../db/schema.ts'
import type { WriteDatabase } from '../db/write-database.ts'

const leaseMs = 30_000
const renewedAfterMs = 10_000
const now = sql`(unixepoch('subsec') * 1000)`

/** The lease of a local database: its one owner does the work. */
export const noLease = { take: async () => true, release: async () => {} }

/** Work that one of the nodes of a database does at a time: whoever holds the lease, by the server's clock. */
export class Lease {
  readonly #read: ReadDatabase
  readonly #write: WriteDatabase
  readonly #name: string
  readonly #holder = randomUUID()
  #takenAt = Number.NEGATIVE_INFINITY
  #isHeld = false

  constructor({ read, write }: { read: ReadDatabase; write: WriteDatabase }, name: string) {
    this.#read = read
    this.#write = write
    this.#name = `lease_${name}`
  }

  /** Takes or renews the lease. Returns whether this node holds it. Asks the database only every ten seconds. */
  async take(): Promise<boolean> {
    if (performance.now() - this.#takenAt < renewedAfterMs) return this.#isHeld
    this.#isHeld = false
    this.#isHeld = !(await this.#isOfAnother()) && (await this.#takeOrRenew())
    this.#takenAt = performance.now()
    return this.#isHeld
  }

  /**
   * Checked first, because a write goes to the primary. A replica that lags, or whose clock does, takes the lease
   * later.
   */
  async #isOfAnother(): Promise<boolean> {
    const rows = await this.#read
      .select({ name: meta.name })
      .from(meta)
      .where(sql`name = ${this.#name} and not ${this.#isFree}`)
    return rows.length > 0
  }

  async #takeOrRenew(): Promise<boolean> {
    const value = sql`cast(cast(${now} + ${leaseMs} as integer) as text) || ' ' || ${this.#holder}`
    const rows = await this.#write.all(sql`
      insert into ${meta} (name, value) values (${this.#name}, ${value})
      on conflict (name) do update set value = excluded.value
      where ${this.#isFree} returning name`)
    return rows.length > 0
  }

  /** Whether the lease has expired or is this node's. */
  get #isFree(): SQL {
    return sql`(cast(meta.value as integer) < ${now} or meta.value like ${`% ${this.#holder}`})`
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
