import { fillPlaceholders, type Query, SQL } from 'drizzle-orm'
import { SQLiteSyncDialect } from 'drizzle-orm/sqlite-core'

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
