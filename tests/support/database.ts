import { join } from 'node:path'
import { type OpenDatabase, openDatabase } from '../../src/db/open.ts'
import { atEnd, freshFolder } from './at-end.ts'

export interface FreshDatabase {
  database: OpenDatabase
  folder: string
  /** Also done at the end of the file. */
  close(): Promise<void>
}

/** A database without services around it, in a folder of its own. */
export async function openFreshDatabase(): Promise<FreshDatabase> {
  const folder = freshFolder()
  const database = await openDatabase(join(folder, 'callbook.db'))
  return { database, folder, close: atEnd(() => database.close()) }
}
