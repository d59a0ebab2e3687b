import { type SQL, sql } from 'drizzle-orm'
import type { ReadDatabase } from '../db/reader.ts'

const headerBytesOfFile = 100
/** Bytes of a b-tree page's header by its first byte: interior and leaf pages, of indexes and of tables. */
const headerBytes = new Map([
  [0x02, 12],
  [0x05, 12],
  [0x0a, 8],
  [0x0d, 8],
])
const pageBytesMax = 65_536
const zeroes = Buffer.alloc(pageBytesMax)

/** A page with bytes of cells that are gone, and what it should hold instead. */
export interface StalePage {
  page: number
  before: Uint8Array
  after: Uint8Array
}

/**
 * Finds pages with bytes of cells in their unused middle. `secure_delete` zeroes a cell that is deleted, but not
 * the copy that stays behind when balancing has moved it to another page (`rebuildPage` in SQLite's btree.c).
 * https://www.sqlite.org/fileformat2.html#b_tree_pages
 */
export async function findStalePages(db: ReadDatabase, pages: Iterable<number>): Promise<StalePage[]> {
  // Page by page, since `sqlite_dbpage` goes through the whole file to find a range. Pages that are no b-tree's
  // begin with a page number, whose first byte is 0 or 1 in a file of less than 128 GiB.
  const rows = await db.all<{ page: number; data: ArrayBuffer | Uint8Array }>(sql`
    select pgno as page, data from json_each(${JSON.stringify([...pages])}) cross join sqlite_dbpage on pgno = value
    where pgno = 1 or substr(data, 1, 1) in (x'02', x'05', x'0a', x'0d')`)
  return rows.flatMap(({ page, data }) => {
    const before = new Uint8Array(data)
    const after = withoutStaleCells(page, before)
    return after ? [{ page, before, after }] : []
  })
}

/** Clears a page, unless it has changed since it was read. */
export function clearStalePage({ page, before, after }: StalePage): SQL {
  return sql`update sqlite_dbpage set data = ${after} where pgno = ${page} and data = ${before}`
}

/** The page with zeroes between its cell pointers and its first cell; null when that is what it has. */
function withoutStaleCells(number: number, page: Uint8Array): Uint8Array | null {
  const start = number === 1 ? headerBytesOfFile : 0
  const ownHeaderBytes = headerBytes.get(page[start] ?? 0)
  if (ownHeaderBytes === undefined) return null
  const view = new DataView(page.buffer, page.byteOffset, page.byteLength)
  const unusedStart = start + ownHeaderBytes + 2 * view.getUint16(start + 3)
  const unusedEnd = view.getUint16(start + 5) || pageBytesMax
  if (unusedEnd > page.length || unusedStart >= unusedEnd) return null
  const unused = Buffer.from(page.buffer, page.byteOffset + unusedStart, unusedEnd - unusedStart)
  if (unused.equals(zeroes.subarray(0, unused.length))) return null
  const after = page.slice()
  after.fill(0, unusedStart, unusedEnd)
  return after
}
