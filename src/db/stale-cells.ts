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
    .filter(({ pgno, data }) => withoutStaleCells(pgno, new Uint8Array(data)) !== null)
    .map(({ pgno }) => pgno)
}

/**
 * Zeroes those bytes. To be called where nothing else writes meanwhile; a page that another process changes
 * between being read and being written is read again.
 */
export function clearStalePages(connection: WriteConnection, pages: readonly number[]): void {
  let open = [...pages]
  while (open.length > 0) {
    const rewrites = readRewrites(connection, open)
    const statements = rewrites.map(({ page, before, after }) => ({
      sql: 'update sqlite_dbpage set data = ? where pgno = ? and data = ?',
      args: [after, page, before],
    }))
    const results = connection.batch(statements)
    open = rewrites.filter((_, position) => results[position]?.rowsAffected === 0).map(({ page }) => page)
  }
}

function readRewrites(connection: WriteConnection, pages: readonly number[]) {
  const rewrites: { page: number; before: Uint8Array; after: Uint8Array }[] = []
  for (const page of pages) {
    const { rows } = connection.execute({
      sql: 'select data from sqlite_dbpage where pgno = ?',
      args: [page],
    })
    const data = rows[0]?.[0]
    if (!(data instanceof Uint8Array)) continue
    // Not a Buffer, whose `slice` shares its memory.
    const before = new Uint8Array(data)
    const after = withoutStaleCells(page, before)
    if (after) rewrites.push({ page, before, after })
  }
  return rewrites
}

/** The page with zeroes between its cell pointers and its first cell; null when it has them already. */
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
