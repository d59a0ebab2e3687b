import { fillPlaceholders, type Query, SQL } from 'drizzle-orm'
import { SQLiteSyncDialect } from 'drizzle-orm/sqlite-core'
import { ProjectWasDeleted } from '../errors.ts'
import type { ReadDatabase } from './reader.ts'
import type { WriteDatabase } from './write-database.ts'

/** Where one tenant's data is read and written. */
export interface Store {
  readonly read: ReadDatabase
  /**
   * For searches of knowledge, which read texts from everywhere in the file: mapped into memory, they would keep it all
   * there.
   */
  readonly readForSearch: ReadDatabase
  readonly write: WriteDatabase
  /** For queries of programs that scan many rows: see side-reader.ts. */
  readonly readInBackground: ReadDatabase
  /** The same for people in the console, so that their figures do not hold up the programs' lists. */
  readonly readForConsole: ReadDatabase
  /** For deletions, which free space: they run even on a full disk. */
  readonly writeWhenFull: WriteDatabase
}

/**
 * The only way to a tenant's data. Today all projects share one database. A database for each project, which Turso is
 * made for, would be another function of this type.
 */
export type StoreOf = (projectId: number) => Store

/** The stores of all projects. Deleting a project closes its store to the work that is still under way. */
export class ProjectStores {
  readonly #store: StoreOf
  /** Ids are never reused, so a closed store stays closed. */
  readonly #closed = new Set<number>()

  constructor(store: StoreOf) {
    this.#store = store
  }

  /** @throws unavailable once the project is deleted */
  readonly of: StoreOf = (projectId) => {
    if (this.#closed.has(projectId)) throw new ProjectWasDeleted()
    return this.#store(projectId)
  }

  isClosed(projectId: number): boolean {
    return this.#closed.has(projectId)
  }

  close(projectId: number): void {
    this.#closed.add(projectId)
  }
}

/** Prepares a set of queries once for each database they run on. */
export function preparedQueries<Queries>(
  prepare: (db: ReadDatabase) => Queries,
): (db: ReadDatabase) => Queries {
  const queriesOf = new WeakMap<ReadDatabase, Queries>()
  return (db) => {
    let queries = queriesOf.get(db)
    if (!queries) {
      queries = prepare(db)
      queriesOf.set(db, queries)
    }
    return queries
  }
}

/** A statement whose text is made once, at its first use: for a short one, Drizzle takes longer than SQLite to run it. */
export function preparedSql<Name extends string>(
  template: SQL,
): (values: Record<Name, string | number | null>) => SQL {
  let query: Query | undefined
  return (values) => {
    query ??= new SQLiteSyncDialect().sqlToQuery(template)
    return new Filled({ sql: query.sql, params: fillPlaceholders(query.params, values) })
  }
}

/** Runs statements of another origin than Drizzle: rows as arrays. */
export function readRows(db: ReadDatabase) {
  return async (text: string, params: readonly unknown[]): Promise<unknown[][]> => {
    const rows = await db.values<unknown[]>(new Filled({ sql: text, params: [...params] }))
    // Those of a server have columns by number, but are no arrays.
    return rows.map((row) => Array.from(row))
  }
}

class Filled extends SQL {
  readonly #query: Query

  constructor(query: Query) {
    super([])
    this.#query = query
  }

  override toQuery(): Query {
    return this.#query
  }
}
