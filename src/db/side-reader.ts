import { drizzle } from 'drizzle-orm/sqlite-proxy'
import { FairQueue } from '../threads/fair-queue.ts'
import { Thread } from '../threads/thread.ts'
import type { ReadDatabase } from './reader.ts'
import type { SideReaderApi } from './side-reader-worker.ts'

const idleMs = 60_000

/**
 * A reader on its own thread, for queries that scan many rows: people wait for these, and they must not delay the
 * agents that the main thread answers. A message each way costs some 50 us. Projects take turns, query by query.
 */
export class SideReader {
  readonly #queue = new FairQueue<unknown[][]>()
  readonly #thread: Thread<SideReaderApi, { file: string }>

  constructor(file: string) {
    this.#thread = new Thread({
      script: new URL('./side-reader-worker.ts', import.meta.url),
      name: 'The side reader',
      data: () => ({ file }),
      idleMs,
    })
  }

  /** Reads in the project's turns; null for queries of no project. */
  of(projectId: number | null): ReadDatabase {
    return drizzle(async (sql, params, method) => {
      const ask = () => this.#thread.ask('rows', sql, params)
      const rows = await this.#queue.do(projectId, JSON.stringify([sql, params]), ask)
      // For `get` Drizzle takes the row itself, or undefined; its types do not say so.
      return { rows: method === 'get' ? (rows[0] as unknown[]) : rows }
    })
  }

  /** Rejects the queries that wait and ends the thread. */
  async close(): Promise<void> {
    await this.#thread.close()
  }
}
