import { eq } from 'drizzle-orm'
import { LRUCache } from 'lru-cache'
import type { ReadDatabase } from './reader.ts'
import { meta } from './schema.ts'
import { preparedQueries } from './store.ts'

const queries = preparedQueries((db) => ({
  version: db.select({ value: meta.value }).from(meta).where(eq(meta.name, 'rights')).prepare(),
}))

interface RightsOptions {
  read: ReadDatabase
  /** See Reader.dataVersion. */
  dataVersion: () => number
}

/**
 * Caches what keys and settings allow. Triggers change the version of all rights with each change of a key, of a
 * project's settings, and with a project's deletion, so that most commits leave the caches as they are.
 */
export class Rights {
  readonly #options: RightsOptions
  #dataVersion = -1
  #version = ''

  constructor(options: RightsOptions) {
    this.#options = options
  }

  /**
   * Returns a function that reads a row, or takes it from a cache of `max` rows. A change, by any process, takes effect
   * with the next call.
   */
  cache<Name extends string | number, Row extends object>(max: number) {
    const rows = new LRUCache<Name, Row>({ max })
    let cachedVersion = ''
    return async (name: Name, read: () => Promise<Row>): Promise<Row> => {
      const dataVersion = this.#options.dataVersion()
      const version = dataVersion === this.#dataVersion ? this.#version : await this.#read(dataVersion)
      if (version !== cachedVersion) rows.clear()
      cachedVersion = version
      const cached = rows.get(name)
      if (cached) return cached
      const row = await read()
      // A row that was read before a change that has been noticed meanwhile may be old.
      if (cachedVersion === version) rows.set(name, row)
      return row
    }
  }

  /** @param dataVersion read before the version: after a commit in between, it differs the next time */
  async #read(dataVersion: number): Promise<string> {
    const row = await queries(this.#options.read).version.get()
    this.#dataVersion = dataVersion
    // Without it, every commit counts.
    this.#version = row?.value ?? String(dataVersion)
    return this.#version
  }
}
