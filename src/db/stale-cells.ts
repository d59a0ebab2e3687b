import { sql } from 'drizzle-orm'
import type { ReadDatabase } from './reader.ts'
import type { WriteConnection } from './write-connection.ts'

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

/**
 * Finds pages with bytes of cells in their unused middle. `secure_delete` zeroes a cell that is deleted, but not
 * the copy that stays behind when balancing has moved it to another page (`rebuildPage` in SQLite's btree.c).
 * https://www.sqlite.org/fileformat2.html#b_tree_pages
 * @returns the pages' numbers, from `first` to `last`
 */
export async function findStalePages(db: ReadDatabase, first: number, last: number): Promise<number[]> {
  // Page by page, since `sqlite_dbpage` goes through the whole file to find a range. Pages that are no b-tree's
  // begin with a page number, whose first byte is 0 or 1 in a file of less than 128 GiB.
  const rows = await db.all<{ pgno: number; data: ArrayBuffer | Uint8Array }>(
    sql`select pgno, data from generate_series(${first}, ${last}) cross join sqlite_dbpage on pgno = value
      where pgno = 1 or substr(data, 1, 1) in (x'02', x'05', x'0a', x'0d')`,
  )
  return rows
    .filter(({ pgno, data }) => hasStaleCells(pgno, Buffer.from(new Uint8Array(data))))
    .map(({ pgno }) => pgno)
}

/** Zeroes those bytes, in the connection's transaction. @returns the number of pages that had any */
export function clearStalePages(connection: WriteConnection, pages: Iterable<number>): number {
  let cleared = 0
  for (const page of pages) {
    const [row] = connection.execute({
      sql: 'select data from sqlite_dbpage where pgno = ?',
      args: [page],
    }).rows
    const data = row?.[0]
    if (!Buffer.isBuffer(data) || !hasStaleCells(page, data)) continue
    const [start, end] = unusedPart(page, data)
    data.fill(0, start, end)
    connection.execute({ sql: 'update sqlite_dbpage set data = ? where pgno = ?', args: [data, page] })
    cleared++
  }
  return cleared
}

/** Whether a page has bytes of cells in its unused middle. */
export function hasStaleCells(page: number, data: Buffer): boolean {
  const [start, end] = unusedPart(page, data)
  return start < end && data.compare(zeroes, 0, end - start, start, end) !== 0
}

/** What lies between a page's cell pointers and its first cell; nothing if the page has no cells. */
function unusedPart(page: number, data: Buffer): [start: number, end: number] {
  const header = page === 1 ? headerBytesOfFile : 0
  const ownHeaderBytes = headerBytes.get(data[header] ?? 0)
  if (ownHeaderBytes === undefined) return [0, 0]
  const start = header + ownHeaderBytes + 2 * data.readUInt16BE(header + 3)
  const end = data.readUInt16BE(header + 5) || pageBytesMax
  return end > data.length ? [0, 0] : [start, end]
}
