import { join } from 'node:path'
import { type OpenDatabase, openDatabase } from '../../src/db/open.ts'
import { freshFolder } from './script.ts'

export interface FreshDatabase {
  database: OpenDatabase
  folder: string
  /** Closes the database and removes its folder. */
  close(): Promise<void>
}

/** A database without services around it, in a folder of its own. */
export async function openFreshDatabase(): Promise<FreshDatabase> {
  const { folder, remove } = freshFolder()
  const database = await openDatabase(join(folder, 'callbook.db'))
  return {
    database,
    folder,
    async close() {
      await database.close()
      remove()
    },
  }
}
