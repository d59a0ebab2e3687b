import type { ReadDatabase } from './reader.ts'
import type { WriteDatabase } from './writer.ts'

/** Where one tenant's data is read and written. */
export interface Store {
  readonly read: ReadDatabase
  readonly write: WriteDatabase
  /** For what deletes: it is written also on a full disk. */
  readonly freeing: WriteDatabase
}

/**
 * The only way to a tenant's data. Today every project is in one database; a database a project, which
 * Turso is made for, is another function of this type.
 */
export type StoreOf = (projectId: number) => Store

/** Prepares a set of queries once for each database they run on. */
export function preparedQueries<Queries>(
  prepare: (db: ReadDatabase) => Queries,
): (db: ReadDatabase) => Queries {
  const prepared = new WeakMap<ReadDatabase, Queries>()
  return (db) => {
    let queries = prepared.get(db)
    if (!queries) {
      queries = prepare(db)
      prepared.set(db, queries)
    }
    return queries
  }
}
