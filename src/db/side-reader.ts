import { drizzle } from 'drizzle-orm/sqlite-proxy'
import { Thread } from '../threads/thread.ts'
import type { ReadDatabase } from './reader.ts'
import type { SideReaderApi } from './side-reader-worker.ts'

const idleMs = 60_000

/**
 * A reader on its own thread, for queries that scan many rows: people wait for these, and they must not delay the
 * agents that the main thread answers. A message each way costs some 50 us.
 */
export class SideReader {
  readonly db: ReadDatabase
  readonly #thread: Thread<SideReaderApi, { file: string }>

  constructor(file: string) {
    this.#thread = new Thread({
      script: new URL('./side-reader-worker.ts', import.meta.url),
      name: 'The side reader',
      data: () => ({ file }),
      idleMs,
    })
    this.db = drizzle(async (sql, params, method) => {
      const rows = await this.#thread.ask('rows', sql, params)
      // For `get` Drizzle takes the row itself, or undefined; its types do not say so.
      return { rows: method === 'get' ? (rows[0] as unknown[]) : rows }
    })
  }

  /** Rejects the queries that wait and ends the thread. */
  async close(): Promise<void> {
    await this.#thread.close()
  }
}
