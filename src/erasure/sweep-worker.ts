import { sql } from 'drizzle-orm'
import { openReader } from '../db/reader.ts'
import { findStalePages } from '../db/stale-cells.ts'
import { lowerPriority } from '../threads/priority.ts'
import { dataOfThread, serve } from '../threads/serve.ts'

const pagesPerRead = 256
/** Some 80 MB, a fraction of a second: a sweep can be aborted between two answers. */
const pagesPerAnswer = 20_000
const niceness = 10

const { file } = dataOfThread<{ file: string }>()
const reader = openReader(file, { mapsFile: false })
lowerPriority(niceness)

export interface SweptPages {
  /** Numbers of the pages to be cleared. */
  stale: number[]
  /** The page to go on from, as soon as there are pages to clear or many were looked at; null at the file's end. */
  next: number | null
}

/** Looks through the database's pages: hundreds of megabytes are read each time. */
const api = {
  /** Looks through the file from this page on. */
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
