import { parentPort, workerData } from 'node:worker_threads'
import { sql } from 'drizzle-orm'
import { lowerPriority } from '../thread-priority.ts'
import { openReader } from './reader.ts'
import { findStalePages } from './stale-cells.ts'

/** Looks through the database's pages on a thread of its own: hundreds of megabytes are read each time. */

export interface SweepReply {
  /** Numbers of the pages to be cleared. */
  stale: number[]
  /** Where to go on, as soon as there are pages to clear or many were looked at; null at the end of the file. */
  next: number | null
  error?: string
}

const pagesPerRead = 256
/** Some 80 MB, a fraction of a second: a sweep can be broken off between two answers. */
const pagesPerAnswer = 20_000
const niceness = 10

const port = parentPort
if (!port) throw new Error('sweep-worker.ts runs as a worker thread only')
const { db } = openReader(workerData.file, { mapsFile: false })
lowerPriority(niceness)

port.on('message', async (from: number) => {
  try {
    port.postMessage(await sweep(from))
  } catch (error) {
    port.postMessage({ stale: [], next: null, error: String(error) } satisfies SweepReply)
  }
})

async function sweep(from: number): Promise<SweepReply> {
  const [size] = await db.all<{ page_count: number }>(sql`pragma page_count`)
  const pages = size?.page_count ?? 0
  for (let first = from; first <= pages; first += pagesPerRead) {
    if (first >= from + pagesPerAnswer) return { stale: [], next: first }
    const stale = await findStalePages(db, first, first + pagesPerRead - 1)
    if (stale.length > 0) return { stale, next: first + pagesPerRead }
  }
  return { stale: [], next: null }
}
