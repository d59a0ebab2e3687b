import { sql } from 'drizzle-orm'
import { openReader } from '../db/reader.ts'
import { findStalePages } from '../db/stale-cells.ts'
import { lowerPriority } from '../threads/priority.ts'
import { dataOfThread, serve } from '../threads/serve.ts'

const pagesPerRead = 256
/** About 80 MB, a fraction of a second. A sweep can be aborted between two answers. */
const pagesPerAnswer = 20_000
const niceness = 10

const { file } = dataOfThread<{ file: string }>()
const reader = openReader(file, { mapsFile: false })
lowerPriority(niceness)

export interface SweptPages {
  /** The numbers of pages to clear. */
  stale: number[]
  /** Where to continue; null at the end of the file. */
  next: number | null
}

const api = {
  /** Reads the file from this page on, until it finds pages to clear or has read many. */
  async sweepFrom(from: number): Promise<SweptPages> {
    const [size] = await reader.db.all<{ page_count: number }>(sql`pragma page_count`)
    const pages = size?.page_count ?? 0
    for (let first = from; first <= pages; first += pagesPerRead) {
      if (first >= from + pagesPerAnswer) return { stale: [], next: first }
      const stale = await findStalePages(reader.db, first, first + pagesPerRead - 1)
      if (stale.length > 0) return { stale, next: first + pagesPerRead }
    }
    return { stale: [], next: null }
  },
}

export type SweepApi = typeof api

serve(api, { close: () => reader.close() })
