import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { migrate } from './migrate.ts'
import { openReader, type ReadDatabase } from './reader.ts'
import { SideReader } from './side-reader.ts'
import type { StoreOf } from './store.ts'
import { openWriter, type WriteDatabase } from './writer.ts'

export interface OpenDatabase {
  readonly read: ReadDatabase
  readonly write: WriteDatabase
  readonly readAside: ReadDatabase
  /** See Writer.freeing. */
  readonly freeing: WriteDatabase
  readonly store: StoreOf
  /** See Reader.dataVersion. */
  dataVersion(): number
  /** False while writes are refused because the writer is starting again. */
  takesWrites(): boolean
  /** See Writer.keepReserve. */
  keepReserve(): Promise<void>
  /** See stale-cells.ts. */
  clearStalePages(pages: number[]): Promise<void>
  /** The database file, for workers that open a reader of their own. */
  readonly file: string
  close(): Promise<void>
}

/** Opens the database at `file`, creating it if needed, and brings it to this version's schema. */
export async function openDatabase(
  file: string,
  onWriterFailure?: (error: Error) => void,
): Promise<OpenDatabase> {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  const writer = openWriter(`file:${file}`, onWriterFailure ? { onFailure: onWriterFailure } : {})
  try {
    await migrate(writer.db, dirname(file))
    const reader = openReader(file)
    const side = new SideReader(file)
    const store = { read: reader.db, write: writer.db, readAside: side.db, freeing: writer.freeing }
    return {
      ...store,
      store: () => store,
      takesWrites: writer.isUp,
      keepReserve: writer.keepReserve,
      clearStalePages: writer.clearStalePages,
      dataVersion: () => reader.dataVersion(),
      file,
      close: async () => {
        reader.close()
        await side.close()
        await writer.close()
      },
    }
  } catch (error) {
    await writer.close()
    throw error
  }
}
